"""Embeddings by an HTTP endpoint that the settings name, and no other: no proxy, no redirect.

`{"texts": […]}` is posted, and `{"embeddings": [[…], …]}` or the bare array is the answer. Where
the path ends in `/v1/embeddings`, or in Ollama's `/api/embed`, it is `{"input": […], "model": …}`
with the model that stands behind a `#` in the address.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from copy import copy
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from brain.errors import NoModel
from brain.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

SECONDS = 120.0  # for one batch
MOST = 256_000_000  # bytes of an answer
REMEDY = "Is it running? See the setting vectorModel."
_WITH_INPUT = ("/v1/embeddings", "/api/embed")


class Http:
    """An HTTP endpoint. Secrets are redacted before texts are sent to it."""

    batch = 64

    def __init__(self, address: str, *, emails: bool = True, seconds: float = SECONDS) -> None:
        self.name = address
        self._emails, self._seconds = emails, seconds
        try:
            self._at = urlsplit(address)
            self._host, self._port = self._at.hostname or "", self._at.port
        except ValueError as error:
            raise NoModel(f"{address} is no address ({error}).", REMEDY) from error

    def within(self, seconds: float) -> Self:
        """Return the same endpoint with this time limit."""
        quick = copy(self)
        quick._seconds = min(seconds, self._seconds)
        return quick

    def embed(self, texts: Sequence[str]) -> Any:
        """Return the answer of the endpoint, one row for each text. Raise NoModel if it fails."""
        clean = [redact(text, emails=self._emails)[0] for text in texts]
        body: dict[str, Any] = {"texts": clean}
        if self._at.path.endswith(_WITH_INPUT):
            body = {"input": clean, "model": self._at.fragment}
        try:
            status, data = self._post(json.dumps(body).encode())
        except (OSError, HTTPException, ValueError) as error:
            raise NoModel(f"{self.name} does not answer ({error}).", REMEDY) from error
        if status != 200:
            raise NoModel(f"{self.name} answers with status {status}.", REMEDY)
        return rows(data, self.name)

    def _post(self, body: bytes) -> tuple[int, bytes]:
        """Return (status, answer). Raise TimeoutError when the time is up, also during the look-up
        of the name, and while an answer arrives byte by byte."""
        kind = HTTPSConnection if self._at.scheme == "https" else HTTPConnection
        connection = kind(self._host, self._port, timeout=self._seconds)
        target = f"{self._at.path or '/'}{'?' if self._at.query else ''}{self._at.query}"
        exchange = _Exchange(connection, target, body)
        exchange.start()
        exchange.join(self._seconds)
        if exchange.is_alive():
            exchange.end()
            raise TimeoutError(f"within {self._seconds:g} s")
        if exchange.error:
            raise exchange.error
        return exchange.status, exchange.answer


class _Exchange(threading.Thread):
    """A request in its own thread, so that the caller can stop waiting."""

    def __init__(self, connection: HTTPConnection, target: str, body: bytes) -> None:
        super().__init__(daemon=True)
        self._connection, self._asked = connection, (target, body)
        self._socket: socket.socket | None = None
        self._over = False
        self.status, self.answer = 0, b""
        self.error: Exception | None = None

    def run(self) -> None:
        target, body = self._asked
        try:
            self._connection.connect()
            self._socket = self._connection.sock  # the connection forgets it before the answer ends
            if self._over:
                return
            headers = {"Content-Type": "application/json"}
            self._connection.request("POST", target, body, headers)
            answer = self._connection.getresponse()
            self.status, self.answer = answer.status, answer.read(MOST)
        except Exception as error:  # for the thread that waits
            self.error = error
        finally:
            self._connection.close()

    def end(self) -> None:
        """Close the connection of a request that takes too long."""
        self._over = True
        if self._socket:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def rows(data: bytes, name: str) -> Any:
    """Return the rows of an answer, in any of the common shapes."""
    try:
        value = json.loads(data)
        if isinstance(value, dict) and "data" in value:  # OpenAI's
            listed = sorted(value["data"], key=lambda one: one.get("index", 0))
            return [one["embedding"] for one in listed]
        return value["embeddings"] if isinstance(value, dict) else value
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoModel(f"{name} answers with something else than embeddings.", REMEDY) from error
