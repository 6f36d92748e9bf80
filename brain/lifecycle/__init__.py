"""What becomes of memories over time. Pure: what is known, `now` and settings are arguments."""
