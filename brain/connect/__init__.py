"""Connect AI clients: their configuration files, and the edits of them."""
