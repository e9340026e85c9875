"""A small server that speaks the OpenAI protocol and misbehaves on demand. Standard library only; no model inside.

By hand, to try the LLM path without an account: python -m tests.servers.openai_server --port 8099
and in another shell: OPENAI_BASE_URL=http://127.0.0.1:8099/v1 OPS6K_MODEL=scripted ops6k build --set fuse.source=llm
"""

import argparse
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .openai_batches import Batches
from .scripted import scripted, structured

FAULTS = (
    "ok", "429", "quota", "500", "401", "404", "400", "slow", "cut", "length", "invalid_json", "html", "not_a_completion",
    "empty_choices", "refusal", "no_code", "wrong_fences", "only_max_tokens", "broken_code", "wrong_label", "huge",
)  # fmt: skip
"""Ways to answer one request; `cut` closes the connection in the middle, `length` stops at the token limit."""


@dataclass(frozen=True, slots=True)
class Received:
    headers: dict[str, str]
    body: dict[str, object]


class ModelServer(ThreadingHTTPServer):
    """Answers the i-th request in the i-th way of `faults`, later ones as `always` says.

    schema: what becomes of a JSON schema: ignored, honoured, or refused with a 400. per_second: more requests in any second
    get a 429 that does not say how long to wait.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, port: int = 0, *, faults: Iterable[str] = (), always: str = "ok", slow_s: float = 5.0, retry_after: str = "1",
        schema: str = "ignored", per_second: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(("127.0.0.1", port), _Handler)
        self.faults, self.always, self.slow_s, self.retry_after = deque(faults), always, slow_s, retry_after
        self.schema, self.per_second = schema, per_second
        self.let_in: deque[float] = deque()
        self.answer: Callable[[str], str] = scripted
        self.batches = Batches(lambda body: json.loads(_completion(body, self.text(body))))
        self.received: list[Received] = []
        self.together = self.most_together = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def text(self, body: dict[str, object]) -> str:
        text = self.answer(body["messages"][-1]["content"])
        return structured(text) if self.schema == "honoured" and "response_format" in body else text

    def lets_in(self) -> bool:
        """Whether one more request keeps to `per_second`; counts it then."""
        now = time.monotonic()
        with self.lock:
            while self.let_in and self.let_in[0] < now - 1:
                self.let_in.popleft()
            if self.per_second is not None and len(self.let_in) >= self.per_second:
                return False
            self.let_in.append(now)
            return True

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
        elif (found := self.server.batches.get(self.path)) is not None:
            self._send(200, found, "application/json")
        else:
            self._error(404, "no such path")

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path in ("/v1/files", "/v1/batches"):
            return self._send(200, self.server.batches.post(self.path, content), "application/json")
        body = json.loads(content)
        if self.path != "/v1/chat/completions":
            return self._error(404, "no such path")
        server = self.server
        with server.lock:
            server.received.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
            fault = server.faults.popleft() if server.faults else server.always
            if fault == "ok" and "response_format" in body and server.schema == "refused":
                fault = "no_schema"
            server.together += 1
            server.most_together = max(server.most_together, server.together)
        try:
            self._answer(fault, body)
        finally:
            with server.lock:
                server.together -= 1

    def _answer(self, fault: str, body: dict[str, object]) -> None:
        text = self.server.text(body)
        if fault == "ok" and not self.server.lets_in():
            return self._error(429, "Rate limit reached")
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
            case "broken_code":
                self._send(
                    200, _completion(body, text.replace("def forward(self, x):", "def forward(self, x:")), "application/json"
                )
            case "wrong_label":
                self._send(200, _completion(body, text.replace('# ops: ["', '# ops: ["F.relu6", "')), "application/json")
            case "huge":
                self._send(200, _completion(body, re.sub(r"^ROWS = \d+", "ROWS = 9000000", text, flags=re.M)), "application/json")
            case "no_schema":
                self._error(400, "response_format of type json_schema is not supported by this model")
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
