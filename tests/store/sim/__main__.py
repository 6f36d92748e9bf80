"""python -m tests.store.sim run [SETTING] [RUNS] [SEED] | show SEED [SETTING] [TOKEN]
| shorten SEED [SETTING]"""

from __future__ import annotations

import sys

from tests.store.sim import scripts

if __name__ == "__main__":
    scripts.main(sys.argv[1:])
