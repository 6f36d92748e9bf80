"""Connecting AI clients: what each needs, and how its configuration is edited."""
