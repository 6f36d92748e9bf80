"""A model is downloaded by `brain sync`, once, and by no search: asked of a hub in this process."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests import kit
from tests.cli.conftest import Run
from tests.embed.kit import tiny_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """The part of Hugging Face's protocol that a download needs; every repository is one model."""

    def __init__(self, folder: Path) -> None:
        self.files = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.asked: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.asked.append(self.path)
                status, data, headers = hub.answer(self.path.partition("?")[0])
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(data)

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        name = path.rpartition("/")[2]
        if "/resolve/" in path and name in self.files:
            data = self.files[name]
            return 200, data, {"ETag": f'"{_sha(data)}"', "X-Repo-Commit": COMMIT}
        if "/resolve/" in path:
            return 404, b"{}", {"X-Error-Code": "EntryNotFound"}
        listed = [
            {"type": "file", "path": name, "size": len(data), "oid": _sha(data)}
            for name, data in self.files.items()
        ]
        about = {"id": "a/model", "sha": COMMIT, "siblings": [{"rfilename": n} for n in self.files]}
        value = listed if "/tree/" in path else about
        return 200, json.dumps(value).encode(), {"Content-Type": "application/json"}


def _sha(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    hub = Hub(tiny_model(tmp_path / "tiny"))
    thread = threading.Thread(target=hub.server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield hub
    hub.server.shutdown()
    hub.server.server_close()
    thread.join()


def test_only_a_sync_downloads_a_model(tmp_path: Path, hub: Hub, shell: Run) -> None:
    vault = kit.lay(tmp_path / "v", {"a.md": "automobile\n", "b.md": "walrus\n", "c.md": "boat\n"})
    (vault / "40_Brain/brain.yaml").write_text("searchProvider: hybrid\nsimilarityThreshold: 0.2\n")
    said = shell("search", "walrus", "--vault", str(vault))
    assert said.out.startswith("b.md:1\n")
    assert "is not on this machine yet. `brain sync` downloads it." in said.err
    assert hub.asked == []
    assert shell("sync", "--vault", str(vault)).code == 0
    assert any(path.endswith("/model.onnx") for path in hub.asked)
    hub.asked.clear()
    said = shell("search", "car?", "--vault", str(vault))
    assert (said.out[:7], said.err) == ("a.md:1\n", "")
    assert shell("sync", "--vault", str(vault)).err == ""
    assert hub.asked == []
