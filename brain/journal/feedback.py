"""Feedback, which is nine of ten lines of a journal, counted without taking each line apart.

One expression knows a line that is plain feedback, whole: nothing in it could be read in another
way. What such a line says is counted as the bytes it is, and only what differs is ever read.
Whatever else there is in a journal is left to `fold`.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MOST = 100_000  # different things said that are held at once: some ten megabytes
_WORDS = rb"[ !#-\[\]-~]"  # of a string in JSON, those that stand for themselves
_NUMBER = rb"(?:0|[1-9][0-9]{0,14}+)"
_LINE = rb"""
    \n\{
    ( "id":"%(w)b*+","at":"%(w)b*+","device":"%(device)b","seq":%(n)b,"lamport":%(n)b )
    ,"by":"%(w)b*+",
    ( "op":"(?:hit|reinforce|demote|reject)","ref":"%(w)b++","path":"%(w)b*+"
      (?:,"(?:delta|count)":-?(?:0|[1-9][0-9]{0,4}+)(?:\.[0-9]{1,3}+)?+)?+
      (?:,"agent":"%(w)b*+")?+
      (?:,"session":"%(w)b*+")?+ )
    ( ,"last":"%(w)b*+" )?+
    ,"sum":"[0-9a-f]{8}"\}
    (?=\n)
"""


class Feedback:
    """What the feedback of one device amounts to, given block by block, the last one first."""

    def __init__(self, device: str) -> None:
        values = {b"w": _WORDS, b"n": _NUMBER, b"device": re.escape(device.encode())}
        self._line = re.compile(_LINE % values, re.VERBOSE)
        self._said: Counter[bytes] = Counter()
        # of each thing said: which record said it last, and what else it told
        self._last: dict[bytes, tuple[bytes, bytes | None]] = {}

    def take(self, block: bytes) -> tuple[int, list[bytes]]:
        """Count the plain feedback in these lines: how many that are, and the other lines."""
        parts = self._line.split(b"\n%b\n" % block)
        said = parts[2::4]
        known = len(self._said)
        self._said.update(said)
        if new := len(self._said) - known:
            last = dict(zip(said, zip(parts[1::4], parts[3::4], strict=True), strict=True))
            self._last.update((key, last[key]) for key in islice(reversed(self._said), new))
        return len(said), [line for line in b"".join(parts[::4]).split(b"\n") if line]

    def is_much(self) -> bool:
        """Should it be given out before more is taken?"""
        return len(self._said) > _MOST

    def given(self) -> Iterator[tuple[dict[str, Any], int]]:
        """What was said, how often, and with it the record that said it last. It is used up."""
        import orjson

        for said, times in self._said.items():
            record, more = self._last[said]
            yield orjson.loads(b"{%b,%b%b}" % (record, said, more or b"")), times
        self._said.clear()
        self._last.clear()
