"""Sessions: conversations in the vault, one transcript each, and the import from AI clients."""
