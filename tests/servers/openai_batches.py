"""Files and batches of the OpenAI protocol, in memory."""

import json
from collections import deque
from collections.abc import Callable


class Batches:
    """A batch is in progress for `looks` looks at it, then ends as the next of `ends` says (completed if none is left).

    `lose`: how many of the next lines get an error in place of an answer.
    """

    def __init__(self, complete: Callable[[dict[str, object]], dict[str, object]]) -> None:
        self.complete = complete
        self.files: dict[str, bytes] = {}
        self.made: dict[str, dict[str, object]] = {}
        self.lines: list[list[dict[str, object]]] = []
        """What was asked, a list a batch."""
        self.looks, self.lose = 1, 0
        self.ends: deque[str] = deque()

    def post(self, path: str, content: bytes) -> bytes:
        if path == "/v1/files":
            name = f"file-{len(self.files)}"
            self.files[name] = b"\n".join(line.strip() for line in content.splitlines() if line.startswith(b'{"custom_id"'))
            reply = {"id": name, "object": "file", "bytes": len(content), "created_at": 0, "filename": "x", "purpose": "batch"}
        else:
            asked = json.loads(content)
            reply = {
                "id": f"batch-{len(self.made)}", "object": "batch", "created_at": 0, "status": "in_progress", "looks": self.looks,
                "endpoint": asked["endpoint"], "completion_window": "24h", "input_file_id": asked["input_file_id"],
            }  # fmt: skip
            self.made[reply["id"]] = reply
            self.lines.append([json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()])
        return json.dumps(reply).encode()

    def get(self, path: str) -> bytes | None:
        """A batch, or a file's content; None where there is none."""
        match path.split("/")[2:]:
            case ["batches", name] if name in self.made:
                batch = self.made[name]
                batch["looks"] -= 1
                if batch["looks"] < 0 and batch["status"] == "in_progress":
                    self._end(batch)
                return json.dumps(batch).encode()
            case ["files", name, "content"]:
                return self.files.get(name)
        return None

    def _end(self, batch: dict[str, object]) -> None:
        batch["status"] = self.ends.popleft() if self.ends else "completed"
        if batch["status"] == "failed":
            batch["errors"] = {"object": "list", "data": [{"code": "x", "message": "line 1 is no request", "line": 1}]}
            return
        done, failed = [], []
        for line in map(json.loads, self.files[batch["input_file_id"]].splitlines()):
            if self.lose:
                self.lose -= 1
                reply = {"status_code": 500, "request_id": "x", "body": {"error": {"message": "lost"}}}
                failed.append({"id": "x", "custom_id": line["custom_id"], "response": reply, "error": None})
            else:
                reply = {"status_code": 200, "request_id": "x", "body": self.complete(line["body"])}
                done.append({"id": "x", "custom_id": line["custom_id"], "response": reply, "error": None})
        for key, lines in (("output_file_id", done), ("error_file_id", failed)):
            if lines:
                batch[key] = f"{key}-{batch['id']}"
                self.files[batch[key]] = "\n".join(json.dumps(line) for line in reversed(lines)).encode()
