"""The journal: what happened to the memories, in files that only grow, one per device and month.

A device writes only its own files, so that any sync tool or `git merge` can carry them. `codec` is
the format of a line, `writer` appends to the files of this device, `reader` brings all files into
the index, and `index/records` says what they mean.
"""
