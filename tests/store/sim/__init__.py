"""People, editors, devices and Brain processes around one note, in virtual time on real files.

`world` is the machine: files, clocks, Brain processes. `editors` are the windows. `oracle` knows
who has seen each line, and which lines may be missing. `director` chooses the steps of a random
run. `scripts` replays and shortens a run. `python -m tests.store.sim` runs it by hand.
"""
