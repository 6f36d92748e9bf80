"""A model on loopback that real clients talk to: `python mock_model.py LOG`; it prints its port.

It speaks enough of three protocols for a client to finish a turn: Anthropic `/v1/messages`, OpenAI
`/v1/responses`, Gemini `generateContent`. Each answer is "Mock answer." A prompt with STORE or
QUERY makes it first call the tool `memory_store` or `memory_query` with the text behind that word,
up to the end of the line. The text of the slash command `/memory` makes it first run what the user
asks for. LOG gets the body of each request, one in a line.
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

TEXT = "Mock answer."
TOOLS = {"STORE": ("memory_store", "content"), "QUERY": ("memory_query", "query")}
PROMPTED = re.compile(r"\b(STORE|QUERY) ([^\"\\\n]+)")
COMMAND = re.compile(r"`/memory ([^`]+)`.*?`(sh [^`]+)`")  # what is asked for, how Brain is run


class Call(NamedTuple):
    """The name under which the client offers a tool, and the arguments to call it with."""

    name: str
    given: dict[str, str]


def wanted(turn: list[dict[str, Any]], names: list[str]) -> Call | None:
    """The call that a turn asks for; None if there is none, or it was done."""
    said = json.dumps(turn, ensure_ascii=False)
    if re.search(r'"(tool_result|function_call_output|functionResponse)"', said):
        return None
    if found := COMMAND.search(said):
        tool, given = "Bash", {"command": json.loads(f'"{found[2]} {found[1]}"')}
    elif found := PROMPTED.search(said):
        tool, argument = TOOLS[found[1]]
        given = {argument: found[2].strip()}
    else:
        return None
    return next((Call(name, given) for name in names if name.endswith(tool)), None)


def since_answer(messages: list[dict[str, Any]], role: str) -> list[dict[str, Any]]:
    """The messages behind the last one of the model."""
    at = max((at for at, each in enumerate(messages) if each.get("role") == role), default=-1)
    return messages[at + 1 :]


# -- the protocols: events of a stream -----------------------------------------------------------


def anthropic(body: dict[str, Any]) -> list[dict[str, Any]]:
    names = [each["name"] for each in body.get("tools", [])]
    call = wanted(since_answer(body["messages"], "assistant"), names)
    message = {
        "id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }  # fmt: skip
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": TEXT}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{uuid4().hex}", "name": call.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.given)}
    if not body.get("stream"):
        return [{**message, "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}]
    end = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def responses(body: dict[str, Any]) -> list[dict[str, Any]]:
    turn = since_answer(body["input"], "assistant")
    item: dict[str, Any] = {
        "type": "message", "id": "m_1", "role": "assistant",
        "content": [{"type": "output_text", "text": TEXT, "annotations": []}],
    }  # fmt: skip
    for each in body.get("tools", []):
        # tools of an MCP server are in a namespace of their own
        inner = [below.get("name", "") for below in each.get("tools", [])]
        if call := wanted(turn, [each.get("name", ""), *inner]):
            space = {"namespace": each["name"]} if call.name in inner else {}
            item = {
                "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call.name,
                "arguments": json.dumps(call.given), **space,
            }  # fmt: skip
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    }  # fmt: skip
    whole = {"id": "resp_1", "status": "completed", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def gemini(body: dict[str, Any]) -> list[dict[str, Any]]:
    offered = [each for group in body.get("tools", []) for each in group["functionDeclarations"]]
    call = wanted(since_answer(body["contents"], "model"), [each["name"] for each in offered])
    part: dict[str, Any] = {"text": TEXT}
    if call:
        part = {"functionCall": {"name": call.name, "args": call.given}}
    elif (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
        choice = {"reasoning": "x", "model_choice": "flash", "next_speaker": "user"}
        choice |= {"complexity_reasoning": "x", "complexity_score": 1}  # type: ignore[dict-item]
        part = {"text": json.dumps(choice)}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return [
        {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage, "modelVersion": "mock",
        }
    ]  # fmt: skip


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log: Path

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"object": "list", "data": [], "models": []}))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        path = self.path.split("?")[0]
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"path": path, "body": body}, ensure_ascii=False) + "\n")
        if path.endswith("/v1/messages"):
            self._stream(anthropic(body), named=True, whole=not body.get("stream"))
        elif path.endswith("/responses"):
            self._stream(responses(body), named=True)
        elif "enerateContent" in path:
            self._stream(gemini(body), whole="stream" not in path)
        else:
            self._send("application/json", '{"input_tokens": 10, "totalTokens": 10}')

    def _stream(
        self, events: list[dict[str, Any]], named: bool = False, whole: bool = False
    ) -> None:
        if whole:
            return self._send("application/json", json.dumps(events[0]))
        names = [f"event: {each['type']}\n" if named else "" for each in events]
        pairs = zip(names, events, strict=True)
        text = "".join(f"{name}data: {json.dumps(each)}\n\n" for name, each in pairs)
        return self._send("text/event-stream", text)

    def _send(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    Model.log = Path(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    print(server.server_address[1], flush=True)
    server.serve_forever()
