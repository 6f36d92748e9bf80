"""A model on loopback that real clients talk to: `python mock_model.py LOG`; it prints its port.

It speaks enough of four protocols for a client to finish a turn: Anthropic `/v1/messages`, OpenAI
`/v1/responses` and `/v1/chat/completions`, Gemini `generateContent`. Each answer is "Mock answer."
A prompt with STORE or QUERY makes it first call the tool `memory_store` or `memory_query` with the
text behind that word, up to the end of the line. The text of a slash command makes it do what that
text says. LOG gets the body of each request, one in a line.
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
PROMPTED = re.compile(r"\b(STORE|QUERY) ([^\"\n]+)")
RESULT = re.compile(r'"(tool_result|function_call_output|functionResponse)"|"role": "tool"')
CALL = re.compile(r'"(tool_use|functionCall|tool_calls)"')
ID = re.compile(r"\[id:(m-\w+)\]")
ASKED = re.compile(r"`/memory ([^`]+)`")  # in the slash command `/memory`
RUN = re.compile(r"`(sh [^`]+)`")  # how Brain is run there
GIVEN = re.compile(r":\n\n(.+?)\n\n")  # what the user gave, in the other slash commands


class Call(NamedTuple):
    """The name of a tool, or the end of it, and the arguments to call it with."""

    name: str
    given: dict[str, Any]


def wanted(turn: list[dict[str, Any]], names: list[str]) -> Call | None:
    """The next call that a turn asks for, under the name that the client has for the tool. Claude
    Code has tools that the model has to search first."""
    said = "\n".join(_text(each) for each in turn if not RESULT.search(json.dumps(each)))
    results = [_text(each) for each in turn if RESULT.search(json.dumps(each))]
    results = [each for each in results if '"tool_reference"' not in each]
    for call in calls(said, results)[len(results) :][:1]:
        if name := next((name for name in names if name.endswith(call.name)), None):
            return call._replace(name=name)
        if (found := re.search(rf"mcp__\w+__{call.name}\b", said)) and "ToolSearch" in names:
            return Call("ToolSearch", {"query": f"select:{found[0]}", "max_results": 5})
    return None


def _text(message: dict[str, Any]) -> str:
    text = json.dumps(message, ensure_ascii=False)
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")


def calls(said: str, results: list[str]) -> list[Call]:
    """All calls that a prompt asks for, as far as they are known from the results so far."""
    found = ID.search("\n".join(results))
    id = found[1] if found else ""
    if asked := ASKED.search(said):
        run = RUN.search(said)
        assert run
        words = re.sub(r"^list (\w+)$", r"list --kind \1", asked[1])
        if words.startswith("auto"):
            return _auto(run[1], words == "auto on", results)
        return [Call("Bash", {"command": f"{run[1]} {words}"})]
    if "Store this with the tool" in said:
        given = {"content": _given(said), "kind": "fact", "source": "user_stated"}
        return [Call("memory_store", given)]
    if "Delete the memory" in said:
        return [Call("memory_query", {"query": _given(said)}), Call("memory_forget", {"id": id})]
    if "Pin the memory" in said:
        pinned = bool(id) and "pinned" in results[0].partition(id)[2][:80]
        query = Call("memory_query", {"query": _given(said)})
        return [query, Call("memory_pin", {"id": id, "pinned": not pinned})]
    if prompted := PROMPTED.search(said):
        tool, argument = {"STORE": ("store", "content"), "QUERY": ("query", "query")}[prompted[1]]
        return [Call(f"memory_{tool}", {argument: prompted[2].strip()})]
    return []


def _auto(run: str, on: bool, results: list[str]) -> list[Call]:
    """The calls for `/memory auto on` and `off`."""
    vault = re.search(r"Vault +(\S+)", "\n".join(results))
    path = f"{vault[1]}/40_Brain/brain.yaml" if vault else ""
    change = {"old_string": "# autoInject: true", "new_string": f"autoInject: {str(on).lower()}"}
    return [
        Call("Bash", {"command": f"{run} status"}),
        Call("Read", {"file_path": path}),
        Call("Edit", {"file_path": path, **change}),
        Call("Bash", {"command": f"{run} config autoInject"}),
    ]


def _given(said: str) -> str:
    given = GIVEN.search(said)
    assert given
    return given[1]


def since_answer(messages: list[dict[str, Any]], role: str) -> list[dict[str, Any]]:
    """The messages behind the last answer of the model that was no call."""
    answers = (
        at
        for at, each in enumerate(messages)
        if each.get("role") == role and not CALL.search(json.dumps(each))
    )
    return messages[max(answers, default=-1) + 1 :]


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


def chat(body: dict[str, Any]) -> list[dict[str, Any]]:
    messages = [each for each in body["messages"] if each["role"] != "system"]
    names = [each["function"]["name"] for each in body.get("tools", [])]
    delta: dict[str, Any] = {"role": "assistant", "content": TEXT}
    if call := wanted(since_answer(messages, "assistant"), names):
        function = {"name": call.name, "arguments": json.dumps(call.given)}
        calls = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
        delta = {"role": "assistant", "tool_calls": calls}
    chunk = {"id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    ends = ((delta, None), ({}, "tool_calls" if call else "stop"))
    return [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in ends
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
        elif path.endswith("/chat/completions"):
            self._stream(chat(body))
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
