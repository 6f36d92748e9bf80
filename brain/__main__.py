"""`python -m brain`."""

from brain.cli.main import main

main()
