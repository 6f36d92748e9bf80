"""Rules that compare memories: duplicates and contradictions. Only `similar` reads the index."""
