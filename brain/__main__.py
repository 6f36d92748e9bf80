"""`python -m brain`."""

from brain.cli.app import main

main()
