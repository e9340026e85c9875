"""The Hugging Face Hub: a repository each for dataset and agent, one commit each, private unless told otherwise."""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ops6k.errors import HubError
from ops6k.params import Params
from ops6k.publish.audited import refuse_faulty
from ops6k.publish.contents import Part, What, changes, parts

if TYPE_CHECKING:
    from huggingface_hub import HfApi, RepoFile

T = TypeVar("T")

_TIMEOUT_S = 300.0
"""Of one read or write of a connection, not of a whole upload. The library's own default is none."""
_PAUSES_S = (1.0, 2.0, 4.0, 8.0)
"""Between tries of one step. The library itself repeats uploads of files, but not the calls around them."""
_BUSY = (408, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Published:
    """Where one part went."""

    repository: str
    sha: str
    """The commit that holds it: load the data set with revision=sha."""
    changes: tuple[str, ...]
    """A line a file that differs from what was there; empty where no commit was needed."""


def publish(
    params: Params, data: Path, *, what: What = "all", to: str | None = None, repo: str | None = None, tag: str | None = None
) -> list[str]:
    """Uploads to TO/ops6k (a data set) and TO/ops6k-agent (a model), or one of them to `repo`; returns lines for a person.

    to: organisation or user; None takes publish.to. repo: a whole name, ORG/NAME. Nothing of these: nothing is published, and
    the line says so. tag: a name for the commit; one that stands elsewhere is never moved. What the repository holds beyond the
    folder is deleted in the same commit. Raises HubError where no token is set, the Hub refuses, the audit finds a fault, or a file should not leave;
    MissingInput where there is nothing to publish.
    """
    owner = to or params.publish.to
    if owner is None and repo is None:
        return ["nothing is published: publish.to names no Hub organisation or user"]
    checked = parts(data, what)
    if repo is not None and (len(checked) > 1 or repo.count("/") != 1):
        raise HubError(f"{repo}: one repository holds the data set or the agent: `ops6k publish dataset --repo ORG/NAME`")
    api = _api()
    refuse_faulty(checked, params, data)
    lines = []
    for part in checked:
        done = _upload(api, part, repo or f"{owner}/{part.repository}", private=params.publish.private, tag=tag)
        did = f"{len(part.files)} files" if done.changes else "nothing changed"
        tagged = f", tag {tag}" if tag else ""
        lines += [f"  {change}" for change in done.changes]
        lines.append(f"{part.folder} -> {_page(api, part, done.repository)}: {did}, commit {done.sha}{tagged}")
    return lines


def downloaded(repository: str, files: Sequence[str]) -> Path:
    """The folder that holds these files of a model repository, from the Hub's cache where it has them; raises HubError."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, allow_patterns=list(files)))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        raise HubError(f"{repository}: cannot be fetched from the Hub: {str(error).splitlines()[0]}") from None


def _api() -> "HfApi":
    from huggingface_hub import HfApi, get_token, set_client_factory

    token = get_token()
    if not token:
        raise HubError("no Hugging Face token: set HF_TOKEN or run `hf auth login` (a folder needs none: --to FOLDER)")
    set_client_factory(_client)
    return HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, token=token, library_name="ops6k")


def _client() -> object:
    from huggingface_hub.utils._http import default_client_factory

    client = default_client_factory()
    client.timeout = _TIMEOUT_S
    return client


def _page(api: "HfApi", part: Part, repository: str) -> str:
    return f"{api.endpoint}/{'datasets/' if part.kind == 'dataset' else ''}{repository}"


def _upload(api: "HfApi", part: Part, repository: str, *, private: bool, tag: str | None) -> Published:
    _steadily(repository, lambda: api.create_repo(repository, repo_type=part.kind, private=private, exist_ok=True))
    done = _steadily(repository, lambda: _commit(api, part, repository, tag))
    if tag:
        _steadily(repository, lambda: _tag(api, part, repository, tag, done.sha))
    return done


def _commit(api: "HfApi", part: Part, repository: str, tag: str | None) -> Published:
    """One commit that makes the repository equal to the part; none where it is already.

    Begins with reading the head, also when repeated: if the reply to a commit was lost, the next try finds it done.
    create_commit and not upload_folder: the latter may split a large folder over several commits.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, RepoFile

    head = api.repo_info(repository, repo_type=part.kind).sha
    tree = api.list_repo_tree(repository, recursive=True, repo_type=part.kind, revision=head)
    there = {entry.path: entry for entry in tree if isinstance(entry, RepoFile) and not entry.path.startswith(".")}
    here = {file.as_posix() for file in part.files}
    sizes = {name: entry.size for name, entry in there.items()}
    changed = tuple(changes(part, sizes, lambda name: _is_same(part.folder / name, there[name])))
    _refuse_moved(api, part, repository, tag, head, changed=bool(changed))
    operations = [CommitOperationAdd(name, part.folder / name) for name in sorted(here)]
    operations += [CommitOperationDelete(name) for name in there if name not in here]
    commit = api.create_commit(
        repository,
        operations,
        commit_message=f"{len(here)} files by ops6k",
        repo_type=part.kind,
        parent_commit=head,
    )
    return Published(repository, commit.oid, changed if commit.oid != head else ())


def _is_same(path: Path, entry: "RepoFile") -> bool:
    """By the hash that the Hub keeps: of the content for a large file, git's for a small one."""
    content = path.read_bytes()
    if entry.lfs is not None:
        return hashlib.sha256(content).hexdigest() == entry.lfs.sha256
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() == entry.blob_id


def _refuse_moved(api: "HfApi", part: Part, repository: str, tag: str | None, head: str, *, changed: bool) -> None:
    """Raises HubError where the tag names another commit than the one that is to bear it."""
    stands = _tags(api, part, repository).get(tag) if tag else None
    if stands is not None and (changed or stands != head):
        raise HubError(f"{repository}: nothing was published: the tag {tag} stands at commit {stands[:8]}; choose another")


def _tag(api: "HfApi", part: Part, repository: str, tag: str, sha: str) -> None:
    if tag not in _tags(api, part, repository):
        api.create_tag(repository, tag=tag, revision=sha, repo_type=part.kind)


def _tags(api: "HfApi", part: Part, repository: str) -> dict[str, str]:
    """Tag to commit."""
    return {ref.name: ref.target_commit for ref in api.list_repo_refs(repository, repo_type=part.kind).tags}


def _steadily(repository: str, step: Callable[[], T]) -> T:
    """The step's result, repeated where the Hub is busy or the connection breaks; raises HubError where it refuses."""
    from huggingface_hub.errors import HTTPError

    for pause_s in (*_PAUSES_S, None):
        try:
            return step()
        except HTTPError as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            if pause_s is None or (status is not None and status not in _BUSY):
                raise HubError(f"{repository}: {_why(error, status)}") from None
            time.sleep(pause_s)
        except RuntimeError as error:  # a file's upload, which the library has repeated itself
            cause = error.__cause__
            if not isinstance(cause, HTTPError | OSError):
                raise
            status = getattr(getattr(cause, "response", None), "status_code", None)
            raise HubError(f"{repository}: {' '.join(str(error).split())} {_why(cause, status)}") from None
        except ValueError as error:  # the Hub's own check of the card, and malformed names
            raise HubError(f"{repository}: {' '.join(str(error).split())}") from None
    raise AssertionError("the last try returns or raises")


def _why(error: Exception, status: int | None) -> str:
    """One line without the token."""
    said = getattr(error, "server_message", None) or str(error)
    said = " ".join(said.split())[:300]
    if status == 401:
        return f"the Hub does not accept the token (401): {said}"
    if status in (403, 404):
        return f"no such organisation or repository, or the token may not write there ({status}): {said}"
    if status in (409, 412):
        return f"somebody else has committed meanwhile ({status}): {said}; publish again"
    return f"the Hub cannot be reached: {said}" if status is None else f"the Hub answers {status}: {said}"
