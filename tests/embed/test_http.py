"""An endpoint as the model: a real local server, in every way in which it can go wrong."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from brain.config import Config
from brain.embed import provider
from brain.embed.http import Http
from brain.errors import NoModel


class Server(HTTPServer):
    """Answers with `answer` (a value, or bytes) and remembers what it was asked."""

    answer: Any = None
    status = 200
    headers: dict[str, str]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, Any]] = []
        self.headers = {}

    def at(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        answer = self.server.answer
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def test_texts_are_posted_and_rows_come_back(server: Server) -> None:
    model = provider(server.at("/embed?x=1"), Config(), "")
    for answer in ([[1.0], [2.0]], {"embeddings": [[1.0], [2.0]]}):
        server.answer = answer
        assert model.embed(["a", "b"]) == [[1.0], [2.0]]
    assert server.asked[0] == ("/embed?x=1", {"texts": ["a", "b"]})


@pytest.mark.parametrize("path", ["/v1/embeddings", "/api/embed"])
def test_the_ways_of_others_are_known(server: Server, path: str) -> None:
    server.answer = {"data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]}
    assert provider(server.at(f"{path}#nomic"), Config(), "").embed(["a", "b"]) == [[1.0], [2.0]]
    assert server.asked == [(path, {"input": ["a", "b"], "model": "nomic"})]


def test_a_secret_does_not_leave(server: Server) -> None:
    server.answer = [[1.0]]
    text = "mail ada@example.org, token ghp_1234567890abcdefghijABCDEFGHIJ123456"
    Http(server.at("/")).embed([text])
    ((_, body),) = server.asked
    assert "ghp_" not in body["texts"][0]
    assert "ada@" not in body["texts"][0]


def test_no_other_address_is_ever_asked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")  # whoever asks it is refused
    server.answer = [[1.0]]
    assert Http(server.at("/")).embed(["a"]) == [[1.0]]
    server.status, server.headers = 307, {"Location": server.at("/elsewhere")}
    with pytest.raises(NoModel, match="status 307"):
        Http(server.at("/")).embed(["a"])
    assert [path for path, _ in server.asked] == ["/", "/"]


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (500, {}, "status 500"),
        (200, b"hello", "something other"),
        (200, {"error": "x"}, "something other"),
        (200, {"data": [{"index": 0}]}, "something other"),
        (200, {"data": 5}, "something other"),
        (200, 5, "one numbers for 1 texts"),
    ],
)
def test_what_goes_wrong_is_a_sentence(
    server: Server, status: int, answer: Any, said: str
) -> None:  # fmt: skip
    from brain.embed import similarity

    server.status, server.answer = status, answer
    with pytest.raises(NoModel, match=said):
        similarity.embed(Http(server.at("/")), ["a"])


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://127.0.0.1:99999/", "http:///x"])
def test_nobody_there(address: str) -> None:
    with pytest.raises(NoModel, match=r"address|answer"):
        Http(address, seconds=5).embed(["a"])


class Dripping(threading.Thread):
    """A server that sends a byte now and then, and never comes to an end."""

    def __init__(self, head: bytes) -> None:
        super().__init__()
        self.head, self.gone = head, False
        self.listening = socket.create_server(("127.0.0.1", 0))

    def run(self) -> None:
        client, _ = self.listening.accept()
        with self.listening, client:
            client.settimeout(0.02)
            try:
                client.sendall(self.head)
                for _ in range(500):
                    client.sendall(b"x")
                    self._pause(client)
            except OSError:
                self.gone = True  # who asked has hung up

    def _pause(self, client: socket.socket) -> None:
        try:
            while client.recv(4096):
                pass
            raise ConnectionResetError
        except TimeoutError:
            return


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"]
)
def test_an_answer_that_never_ends_is_given_up(head: bytes) -> None:
    """However often a byte comes in: each of them would start a timeout anew."""
    server = Dripping(head)
    server.start()
    address = f"http://127.0.0.1:{server.listening.getsockname()[1]}/"
    with pytest.raises(NoModel, match=r"does not answer \(within 0\.2 s\)"):
        Http(address).within(0.2).embed(["a"])
    server.join()
    assert server.gone
