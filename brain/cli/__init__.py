"""The command line: commands are built from the registry of operations; the modules of the groups
print results, and have the few commands that are not operations."""

import gc

gc.set_threshold(200_000)  # most commands end before there is garbage worth collecting
