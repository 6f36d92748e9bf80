"""What is done to memories. Each verb is a function of an open Brain that plans deeds, hands them
to the store, and answers in the shape of `wire`: the entry, and what happened to it."""
