"""What becomes of memories over time. The rules are pure; `similar` asks the index."""
