"""Embeddings by an HTTP endpoint of the user, from the setting vectorModel.

No proxy is used, and no redirect is followed. The request is `{"texts": […]}`. If the path ends in
`/v1/embeddings`, or in Ollama's `/api/embed`, it is `{"input": […], "model": …}`, with the model
after the `#` of the address. The answer is `{"embeddings": [[…], …]}` or only the array.
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

TIMEOUT = 120.0  # seconds for one batch
MAX_ANSWER = 256_000_000  # bytes
REMEDY = "Check that it is running. See the setting vectorModel."
_WITH_INPUT = ("/v1/embeddings", "/api/embed")


class Http:
    """An HTTP endpoint as a provider. Secrets are redacted from the texts that it gets."""

    batch = 64

    def __init__(
        self, address: str, *, redact_emails: bool = True, seconds: float = TIMEOUT
    ) -> None:
        self.name = address
        self._redact_emails, self._seconds = redact_emails, seconds
        try:
            self._address = urlsplit(address)
            self._host, self._port = self._address.hostname or "", self._address.port
        except ValueError as error:
            raise NoModel(f"{address} is not a valid address ({error}).", REMEDY) from error

    def within(self, seconds: float) -> Self:
        """Return the same endpoint with this time limit, if it is shorter."""
        limited = copy(self)
        limited._seconds = min(seconds, self._seconds)
        return limited

    def embed(self, texts: Sequence[str]) -> Any:
        """Return the answer of the endpoint, one row for each text. Raise NoModel if it fails."""
        clean = [redact(text, emails=self._redact_emails)[0] for text in texts]
        body: dict[str, Any] = {"texts": clean}
        if self._address.path.endswith(_WITH_INPUT):
            body = {"input": clean, "model": self._address.fragment}
        try:
            status, data = self._post(json.dumps(body).encode())
        except (OSError, HTTPException, ValueError) as error:
            raise NoModel(f"{self.name} does not answer ({error}).", REMEDY) from error
        if status != 200:
            raise NoModel(f"{self.name} answers with status {status}.", REMEDY)
        return rows(data, self.name)

    def _post(self, body: bytes) -> tuple[int, bytes]:
        """Return (status, answer). Raise TimeoutError at the time limit, even while the name is
        being looked up or an answer arrives slowly."""
        connection_type = HTTPSConnection if self._address.scheme == "https" else HTTPConnection
        connection = connection_type(self._host, self._port, timeout=self._seconds)
        target = (
            f"{self._address.path or '/'}{'?' if self._address.query else ''}{self._address.query}"
        )
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
        self._connection, self._request = connection, (target, body)
        self._socket: socket.socket | None = None
        self._is_ended = False
        self.status, self.answer = 0, b""
        self.error: Exception | None = None

    def run(self) -> None:
        target, body = self._request
        try:
            self._connection.connect()
            # the connection forgets its socket before the answer is complete
            self._socket = self._connection.sock
            if self._is_ended:
                return
            headers = {"Content-Type": "application/json"}
            self._connection.request("POST", target, body, headers)
            answer = self._connection.getresponse()
            self.status, self.answer = answer.status, answer.read(MAX_ANSWER)
        except Exception as error:  # `_post` raises it
            self.error = error
        finally:
            self._connection.close()

    def end(self) -> None:
        """Close the connection of a request that takes too long."""
        self._is_ended = True
        if self._socket:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def rows(data: bytes, name: str) -> Any:
    """Return the rows in an answer, in any of the common formats."""
    try:
        value = json.loads(data)
        if isinstance(value, dict) and "data" in value:  # OpenAI's
            listed = sorted(value["data"], key=lambda one: one.get("index", 0))
            return [one["embedding"] for one in listed]
        return value["embeddings"] if isinstance(value, dict) else value
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoModel(f"{name} answered with something other than embeddings.", REMEDY) from error
