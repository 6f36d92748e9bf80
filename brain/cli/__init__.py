"""One file per group of commands; each parses its arguments, calls one function, prints."""
