"""The command line: commands are built from the registry of operations; the modules of the groups
print results, and have the few commands that are not operations."""
