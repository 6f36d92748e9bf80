"""Sessions: conversations in the vault, one transcript each, and the import of those that clients
keep."""
