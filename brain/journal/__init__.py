"""The journal: a log of all changes of memories, in append-only files, one per device and month.

A device writes only its own files, so any sync tool or `git merge` can synchronise them. `codec`
defines the format of a line, `writer` appends to the files of this device, `reader` reads all files
into the index, and `index/records` defines the meaning of each record.
"""
