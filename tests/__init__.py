"""Tests are the same wherever they run: it is UTC there."""

import os
import time

os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()
