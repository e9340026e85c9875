"""A Hugging Face Hub in memory, as far as create_repo, create_commit, downloads and load_dataset use it (LFS, not Xet).

By hand: python -m tests.servers.hub_server --port 8098, then HF_ENDPOINT=http://127.0.0.1:8098 HF_HUB_DISABLE_XET=1 HF_TOKEN=hf_tests.
"""

import argparse
import base64
import hashlib
import json
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

TOKEN = "hf_tests"
_LFS = (".parquet", ".safetensors", ".bin")
_REPO = r"(?P<id>[\w.-]+/[\w.-]+)"


@dataclass
class Repo:
    private: bool
    commits: list[tuple[str, dict[str, bytes]]] = field(default_factory=list)
    """(sha, files), oldest first."""
    tags: dict[str, str] = field(default_factory=dict)
    """Name to sha."""

    def files(self, revision: str) -> dict[str, bytes] | None:
        revision = self.tags.get(revision, revision)
        if revision == "main":
            return self.commits[-1][1]
        return next((files for sha, files in self.commits if sha == revision), None)

    def commit(self, files: dict[str, bytes]) -> str:
        sha = hashlib.sha1(repr((len(self.commits), sorted((n, _git_oid(c)) for n, c in files.items()))).encode()).hexdigest()
        self.commits.append((sha, files))
        return sha


class HubServer(ThreadingHTTPServer):
    """faults: (substring of `METHOD /path`, status) pairs; the first request that a pair matches is answered so, once.

    lost: substrings; the first request that one matches is carried out, but its reply is a 502. cut: likewise, but half of its body
    is read and the connection is reset.
    """

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.repos: dict[tuple[str, str], Repo] = {}
        self.blobs: dict[str, bytes] = {}
        self.faults: deque[tuple[str, int]] = deque()
        self.lost: deque[str] = deque()
        self.cut: deque[str] = deque()
        self.log: list[str] = []
        self.unknown: list[str] = []
        """Requests that no route answers."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away early are their own business."""


@contextmanager
def running() -> Iterator[HubServer]:
    server = HubServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _git_oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _entry(path: str, content: bytes) -> dict[str, object]:
    entry: dict[str, object] = {"type": "file", "path": path, "size": len(content), "oid": _git_oid(content)}
    if path.endswith(_LFS):
        entry["lfs"] = {"oid": _sha256(content), "size": len(content), "pointerSize": 130}
    return entry


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer
    lose_reply = False

    def log_message(self, *_: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        self._route("GET")

    def do_HEAD(self) -> None:
        self._route("HEAD")

    def do_POST(self) -> None:
        self._route("POST")

    def do_PUT(self) -> None:
        self._route("PUT")

    def _route(self, method: str) -> None:
        path = unquote(urlsplit(self.path).path)
        line = f"{method} {path}"
        self.server.log.append(line)
        if self.server.cut and self.server.cut[0] in line:
            self.server.cut.popleft()
            return self._cut()
        body = self._body()
        for fault in list(self.server.faults):
            if fault[0] in line:
                self.server.faults.remove(fault)
                return self._json(fault[1], {"error": "as ordered"})
        self.lose_reply = bool(self.server.lost) and self.server.lost[0] in line
        if self.lose_reply:
            self.server.lost.popleft()
        for verb, pattern, answer in _ROUTES:
            found = re.fullmatch(pattern, path)
            if found and method in verb.split():
                return answer(self, body, **found.groupdict())
        self.server.unknown.append(line)
        return self._json(404, {"error": f"no route for {line}"})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        whole = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _cut(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0) // 2)
        # Closed without waiting for what is still on its way: the client sees a reset, in the middle of its upload.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(502 if self.lose_reply else status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _allowed(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _repo(self, kind: str, id: str, *, write: bool = False) -> Repo | None:
        """The repository, or None after an error was sent, as the Hub does it: 401 without a token, 404 with a wrong one."""
        repo = self.server.repos.get((kind.removesuffix("s"), id))
        visible = repo is not None and (self._allowed() or not (repo.private or write))
        if not visible:
            status = 404 if self.headers.get("Authorization") else 401
            self._json(status, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
        return repo if visible else None

    def _files(self, repo: Repo, revision: str) -> dict[str, bytes] | None:
        files = repo.files(revision)
        if files is None:
            self._json(404, {"error": f"Invalid rev id: {revision}"}, {"X-Error-Code": "RevisionNotFound"})
        return files

    def whoami(self, _: bytes) -> None:
        self._json(
            *((200, {"name": "tests", "type": "user", "orgs": []}) if self._allowed() else (401, {"error": "Invalid token"}))
        )

    def create(self, body: bytes) -> None:
        asked = json.loads(body)
        if not self._allowed():
            return self._json(401, {"error": "Invalid username or password."})
        kind, id = asked.get("type") or "model", f"{asked.get('organization') or 'tests'}/{asked['name']}"
        if id.startswith("forbidden/"):
            return self._json(403, {"error": f"You don't have the rights to create a {kind} under this namespace"})
        url = f"{self.server.url}/{'datasets/' if kind == 'dataset' else ''}{id}"
        if (kind, id) in self.server.repos:
            return self._json(409, {"error": "You already created this repo", "url": url})
        private = asked.get("visibility") == "private" or bool(asked.get("private"))
        self.server.repos[kind, id] = Repo(private)
        self.server.repos[kind, id].commit({".gitattributes": b"*.parquet filter=lfs\n"})
        return self._json(200, {"url": url, "name": id})

    def validate(self, body: bytes) -> None:
        ok = json.loads(body)["content"].startswith("---")
        self._json(200 if ok else 400, {"errors": [] if ok else [{"message": "no YAML head"}], "warnings": []})

    def preupload(self, body: bytes, kind: str, id: str, rev: str) -> None:
        if (repo := self._repo(kind, id, write=True)) is None or (files := self._files(repo, rev)) is None:
            return
        answers = []
        for asked in json.loads(body)["files"]:
            path, mode = asked["path"], "lfs" if asked["path"].endswith(_LFS) else "regular"
            there = files.get(path)
            oid = None if there is None else _sha256(there) if mode == "lfs" else _git_oid(there)
            answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self._json(200, {"files": answers, "commitOid": repo.commits[-1][0]})

    def lfs_batch(self, body: bytes, id: str, prefix: str | None = None) -> None:
        objects = []
        for asked in json.loads(body)["objects"]:
            actions = {verb: {"href": f"{self.server.url}/lfs/{verb}/{asked['oid']}"} for verb in ("upload", "verify")}
            objects.append(asked if asked["oid"] in self.server.blobs else {**asked, "authenticated": True, "actions": actions})
        self._json(200, {"transfer": "basic", "objects": objects})

    def lfs_upload(self, body: bytes, oid: str) -> None:
        if _sha256(body) != oid:
            return self._json(400, {"error": "sha256 differs"})
        self.server.blobs[oid] = body
        return self._send(200, b"", {})

    def lfs_verify(self, body: bytes, oid: str) -> None:
        self._json(200 if oid in self.server.blobs else 404, {})

    def commit(self, body: bytes, kind: str, id: str, rev: str) -> None:
        if (repo := self._repo(kind, id, write=True)) is None or (files := self._files(repo, rev)) is None:
            return
        files, items = dict(files), [json.loads(line) for line in body.splitlines() if line]
        parent = items[0]["value"].get("parentCommit")
        if parent not in (None, repo.commits[-1][0]):
            return self._json(412, {"error": "A commit has happened since. Please refresh and try again."})
        for value in (item["value"] for item in items if item["key"] == "deletedFile"):
            if files.pop(value["path"], None) is None:
                return self._json(404, {"error": "A file with this name doesn't exist"}, {"X-Error-Code": "EntryNotFound"})
        files |= {i["value"]["path"]: base64.b64decode(i["value"]["content"]) for i in items if i["key"] == "file"}
        files |= {i["value"]["path"]: self.server.blobs[i["value"]["oid"]] for i in items if i["key"] == "lfsFile"}
        sha = repo.commit(files)
        return self._json(200, {"success": True, "commitOid": sha, "commitUrl": f"{self.server.url}/{id}/commit/{sha}"})

    def info(self, _: bytes, kind: str, id: str, rev: str = "main") -> None:
        if (repo := self._repo(kind, id)) is None or (files := self._files(repo, rev)) is None:
            return
        sha = rev if rev != "main" else repo.commits[-1][0]
        siblings = [{"rfilename": path} for path in sorted(files)]
        known = {"id": id, "sha": sha, "private": repo.private, "siblings": siblings, "tags": [], "downloads": 0, "likes": 0}
        self._json(200, {**known, "lastModified": "2026-01-01T00:00:00.000Z", "disabled": False, "gated": False})

    def tree(self, _: bytes, kind: str, id: str, rev: str, below: str = "") -> None:
        if (repo := self._repo(kind, id)) is None or (files := self._files(repo, rev)) is None:
            return
        start = f"{below.strip('/')}/" if below.strip("/") else ""
        inside = sorted(path for path in files if path.startswith(start))
        if not inside:
            return self._json(404, {"error": "no such folder"}, {"X-Error-Code": "EntryNotFound"})
        recursive = "recursive=true" in self.path.lower()
        folders = {start + p[len(start) :].split("/")[0] for p in inside if "/" in p[len(start) :]}
        if recursive:
            folders = {"/".join(p.split("/")[:n]) for p in inside for n in range(1, p.count("/") + 1)}
        entries = [{"type": "directory", "path": folder, "size": 0, "oid": "0" * 40} for folder in sorted(folders)]
        entries += [_entry(path, files[path]) for path in inside if recursive or "/" not in path[len(start) :]]
        return self._json(200, entries)

    def paths_info(self, body: bytes, kind: str, id: str, rev: str) -> None:
        if (repo := self._repo(kind, id)) is None or (files := self._files(repo, rev)) is None:
            return
        asked = json.loads(body)["paths"]
        entries = [_entry(path, files[path]) for path in asked if path in files]
        folders = [path for path in asked if any(name.startswith(f"{path}/") for name in files)]
        self._json(200, entries + [{"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in folders])

    def refs(self, _: bytes, kind: str, id: str) -> None:
        if (repo := self._repo(kind, id)) is not None:
            head = {"name": "main", "ref": "refs/heads/main", "targetCommit": repo.commits[-1][0]}
            tags = [{"name": name, "ref": f"refs/tags/{name}", "targetCommit": sha} for name, sha in repo.tags.items()]
            self._json(200, {"branches": [head], "tags": tags, "converts": []})

    def tag(self, body: bytes, kind: str, id: str, rev: str) -> None:
        if (repo := self._repo(kind, id, write=True)) is None or self._files(repo, rev) is None:
            return
        name = json.loads(body)["tag"]
        if name in repo.tags:
            return self._json(409, {"error": f"tag {name} exists"})
        repo.tags[name] = rev if rev != "main" else repo.commits[-1][0]
        return self._json(200, {})

    def resolve(self, _: bytes, id: str, rev: str, path: str, prefix: str | None = None) -> None:
        kind = "dataset" if prefix else "model"
        if (repo := self._repo(kind, id)) is None or (files := self._files(repo, rev)) is None:
            return
        headers = {"X-Repo-Commit": rev if rev != "main" else repo.commits[-1][0]}
        content = files.get(path)
        if content is None:
            return self._json(404, {"error": "Entry not found"}, {**headers, "X-Error-Code": "EntryNotFound"})
        headers["ETag"] = f'"{_git_oid(content)}"'
        if path.endswith(_LFS):
            headers |= {
                "X-Linked-Size": str(len(content)),
                "X-Linked-Etag": f'"{_sha256(content)}"',
                "ETag": f'"{_sha256(content)}"',
            }
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if span is None:
            return self._send(200, content, {**headers, "Accept-Ranges": "bytes"})
        first, last = int(span[1]), min(int(span[2] or len(content) - 1), len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        return self._send(206, content[first : last + 1], headers)


_KIND = r"/api/(?P<kind>datasets|models)/"
_ROUTES = (
    ("GET", r"/api/whoami-v2", _Handler.whoami),
    ("POST", r"/api/repos/create", _Handler.create),
    ("POST", r"/api/validate-yaml", _Handler.validate),
    ("POST", rf"{_KIND}{_REPO}/preupload/(?P<rev>[^/]+)", _Handler.preupload),
    ("POST", rf"/(?P<prefix>datasets/)?{_REPO}\.git/info/lfs/objects/batch", _Handler.lfs_batch),
    ("PUT", r"/lfs/upload/(?P<oid>\w+)", _Handler.lfs_upload),
    ("POST", r"/lfs/verify/(?P<oid>\w+)", _Handler.lfs_verify),
    ("POST", rf"{_KIND}{_REPO}/commit/(?P<rev>[^/]+)", _Handler.commit),
    ("GET", rf"{_KIND}{_REPO}", _Handler.info),
    ("GET", rf"{_KIND}{_REPO}/revision/(?P<rev>[^/]+)", _Handler.info),
    (
        "GET",
        rf"{_KIND}{_REPO}/tree/(?P<rev>[^/]+)(?P<below>/.*)?",
        lambda h, b, **g: h.tree(b, **{k: v or "" for k, v in g.items()}),
    ),
    ("POST", rf"{_KIND}{_REPO}/paths-info/(?P<rev>[^/]+)", _Handler.paths_info),
    ("GET", rf"{_KIND}{_REPO}/refs", _Handler.refs),
    ("POST", rf"{_KIND}{_REPO}/tag/(?P<rev>[^/]+)", _Handler.tag),
    ("GET HEAD", rf"/(?P<prefix>datasets/)?{_REPO}/resolve/(?P<rev>[^/]+)/(?P<path>.+)", _Handler.resolve),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8098)
    server = HubServer(parser.parse_args().port)
    print(f"HF_ENDPOINT={server.url} HF_HUB_DISABLE_XET=1 HF_TOKEN={TOKEN}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
