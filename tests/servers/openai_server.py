"""A small server that speaks the OpenAI protocol and misbehaves on demand. Standard library only; no model inside.

By hand, to try the LLM path without an account: python -m tests.servers.openai_server --port 8099
and in another shell: OPENAI_BASE_URL=http://127.0.0.1:8099/v1 OPS6K_MODEL=scripted ops6k build --set fuse.source=llm
"""

import argparse
import hashlib
import json
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULTS = (
    "ok", "429", "quota", "500", "401", "404", "400", "slow", "cut", "length", "invalid_json", "html", "not_a_completion",
    "empty_choices", "refusal", "no_code", "wrong_fences", "only_max_tokens",
)  # fmt: skip
"""Ways to answer one request; `cut` closes the connection in the middle, `length` stops at the token limit."""


@dataclass(frozen=True, slots=True)
class Received:
    headers: dict[str, str]
    body: dict[str, object]


class ModelServer(ThreadingHTTPServer):
    """Answers the i-th request in the i-th way of `faults`, later ones as `always` says."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, port: int = 0, *, faults: Iterable[str] = (), always: str = "ok", slow_s: float = 5.0, retry_after: str = "1"
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.faults, self.always, self.slow_s, self.retry_after = deque(faults), always, slow_s, retry_after
        self.answer: Callable[[str], str] = scripted
        self.received: list[Received] = []
        self.together = self.most_together = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are part of the tests."""


@contextmanager
def running(**settings: object) -> Iterator[ModelServer]:
    server = ModelServer(**settings)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._json(
                200, {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}]}
            )
        else:
            self._error(404, "no such path")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            return self._error(404, "no such path")
        server = self.server
        with server.lock:
            server.received.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
            fault = server.faults.popleft() if server.faults else server.always
            server.together += 1
            server.most_together = max(server.most_together, server.together)
        try:
            self._answer(fault, body)
        finally:
            with server.lock:
                server.together -= 1

    def _answer(self, fault: str, body: dict[str, object]) -> None:
        text = self.server.answer(body["messages"][-1]["content"])
        match fault:
            case "429":
                self._error(429, "slow down", {"Retry-After": self.server.retry_after})
            case "quota":
                self._error(429, "You exceeded your current quota", code="insufficient_quota")
            case "500" | "400":
                self._error(int(fault), "as ordered")
            case "401":
                self._error(401, f"Incorrect API key provided: {self.headers['Authorization'].removeprefix('Bearer ')}")
            case "404":
                self._error(404, f"The model `{body['model']}` does not exist")
            case "cut":
                self._send(200, _completion(body, text)[:-40], "application/json", promised=len(_completion(body, text)))
                self.close_connection = True
            case "length":
                self._send(200, _completion(body, text[: len(text) // 2], finish="length"), "application/json")
            case "invalid_json":
                self._send(200, b'{"choices": [{"message": ', "application/json")
            case "html":
                self._send(200, b"<html><body>Welcome to nginx</body></html>", "text/html")
            case "not_a_completion":
                self._json(200, {"choices": "many", "ok": True})
            case "empty_choices":
                self._json(200, {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"], "choices": []})
            case "refusal":
                self._send(200, _completion(body, None, refusal="I can't help with that."), "application/json")
            case "no_code":
                self._send(200, _completion(body, "What a lovely day for a kernel."), "application/json")
            case "wrong_fences":
                program = text.split("```python\n")[1].split("```")[0]
                self._send(200, _completion(body, f"Sure! Here it is:\n\n~~~~py title=task.py\n{program}"), "application/json")
            case "only_max_tokens" if "max_tokens" not in body:
                self._error(400, "Unsupported parameter: 'max_completion_tokens'")
            case _:
                time.sleep(self.server.slow_s if fault == "slow" else 0)
                self._send(200, _completion(body, text), "application/json")

    def _error(self, status: int, message: str, headers: dict[str, str] | None = None, code: str | None = None) -> None:
        self._json(status, {"error": {"message": message, "type": "error", "param": None, "code": code}}, headers)

    def _json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", headers)

    def _send(
        self, status: int, content: bytes, kind: str, headers: dict[str, str] | None = None, promised: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(promised or len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _completion(body: dict[str, object], text: str | None, *, finish: str = "stop", refusal: str | None = None) -> bytes:
    asked = sum(len(message["content"].split()) for message in body["messages"])
    usage = {
        "prompt_tokens": asked,
        "completion_tokens": len((text or "").split()),
        "total_tokens": asked + len((text or "").split()),
    }
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    whole = {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
        "usage": usage,
    }
    return json.dumps(whole).encode()


_ELEMENTWISE = (
    "F.silu",
    "F.gelu",
    "F.softsign",
    "F.mish",
    "F.softplus",
    "F.elu",
    "torch.sin",
    "torch.atan",
    "torch.tanh",
    "torch.asinh",
)
_MODULES = {
    "nn.Linear": "nn.Linear(width, width, dtype=DTYPE)",
    "nn.LayerNorm": "nn.LayerNorm(width, dtype=DTYPE)",
    "nn.RMSNorm": "nn.RMSNorm(width, dtype=DTYPE)",
}


def scripted(prompt: str) -> str:
    """An answer with a sound task of our own: a chain of the depth, dtype and size that the prompt asks for, not its operators."""
    draw = random.Random(hashlib.sha256(prompt.encode()).digest())
    depth = int(_found(r"exactly (\d) operator", prompt, "3"))
    dtype = _found(r"outputs: (\w+)", prompt, "float32")
    labels = draw.sample(_ELEMENTWISE, max(0, depth - draw.randint(1, 3))) if depth > 1 else []
    labels += draw.sample(sorted(_MODULES), min(3, depth - len(labels)))
    labels += draw.sample([label for label in _ELEMENTWISE if label not in labels], depth - len(labels))
    draw.shuffle(labels)
    width = draw.choice((192, 256, 320, 384))
    rows = _rows(prompt, width, depth, 4 if dtype == "float32" else 2)
    return f"```python\n# ops: {json.dumps(labels)}\n{_program(labels, rows, width, dtype)}```\n"


def _found(pattern: str, text: str, default: str) -> str:
    match = re.search(pattern, text)
    return match[1].replace(",", "") if match else default


def _rows(prompt: str, width: int, depth: int, item_bytes: int) -> int:
    """Rows that keep to the bytes and the FLOP that the prompt names, whichever is reached first."""
    megabytes, gigaflops = (
        float(_found(r"about ([\d.,]+) MB", prompt, "50")),
        float(_found(r"about ([\d.,]+) GFLOP", prompt, "0.2")),
    )
    by_bytes = megabytes * 1e6 / (2 * depth * width * item_bytes)
    return max(64, int(min(by_bytes, gigaflops * 1e9 / (2 * width * width))))


def _program(labels: list[str], rows: int, width: int, dtype: str) -> str:
    made, calls = [], []
    for number, label in enumerate(labels):
        if label in _MODULES:
            made.append(f"self.part{number} = {_MODULES[label].replace('DTYPE', f'torch.{dtype}')}")
            made += [f"nn.init.uniform_(self.part{number}.weight, 0.4, 1.6)"] if label != "nn.Linear" else []
            made += [f"nn.init.normal_(self.part{number}.bias)"] if label == "nn.LayerNorm" else []
            calls.append(f"x = self.part{number}(x)")
        else:
            calls.append(f"x = {label}(x)")
    indent = "\n        "
    return (
        f"import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\nROWS = {rows}\nWIDTH = {width}\n\n\n"
        f"class Model(nn.Module):\n    def __init__(self, width):\n        super().__init__(){indent}{indent.join(made)}\n\n"
        f"    def forward(self, x):{indent}{indent.join(calls)}{indent}return x\n\n\n"
        f"def get_inputs():\n    return [torch.randn(ROWS, WIDTH).to(torch.{dtype})]\n\n\ndef get_init_inputs():\n    return [WIDTH]\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--always", choices=FAULTS, default="ok", help="how to answer every request")
    parser.add_argument("--faults", nargs="*", choices=FAULTS, default=[], help="how to answer the first requests")
    chosen = parser.parse_args()
    server = ModelServer(chosen.port, always=chosen.always, faults=chosen.faults)
    print(f"OPENAI_BASE_URL={server.url} OPS6K_MODEL=scripted", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
