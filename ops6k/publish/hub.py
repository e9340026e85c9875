"""The Hugging Face Hub: a repository each for dataset and agent, one commit each, private unless told otherwise."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ops6k.errors import HubError
from ops6k.params import Params
from ops6k.publish.contents import Part, What, parts

if TYPE_CHECKING:
    from huggingface_hub import HfApi

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
    changed: bool


def publish(params: Params, data: Path, *, what: What = "all", to: str | None = None) -> list[str]:
    """Uploads to TO/ops6k (a data set) and TO/ops6k-agent (a model); returns a line for each, for a person.

    to: organisation or user; None takes publish.to. Both None: nothing is published, and the line says so. What the
    repository holds beyond the folder is deleted in the same commit. Raises HubError where no token is set, the Hub
    refuses, or a file should not leave; MissingInput where there is nothing to publish.
    """
    owner = to or params.publish.to
    if owner is None:
        return ["nothing is published: publish.to names no Hub organisation or user"]
    checked = parts(data, what)
    api = _api()
    lines = []
    for part in checked:
        done = _upload(api, part, f"{owner}/{part.repository}", private=params.publish.private)
        did = f"{len(part.files)} files" if done.changed else "nothing changed"
        lines.append(f"{part.folder} -> {_page(api, part, done.repository)}: {did}, commit {done.sha}")
    return lines


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


def _upload(api: "HfApi", part: Part, repository: str, *, private: bool) -> Published:
    _steadily(repository, lambda: api.create_repo(repository, repo_type=part.kind, private=private, exist_ok=True))
    return _steadily(repository, lambda: _commit(api, part, repository))


def _commit(api: "HfApi", part: Part, repository: str) -> Published:
    """One commit that makes the repository equal to the part; none where it is already.

    Begins with reading the head, also when repeated: if the reply to a commit was lost, the next try finds it done.
    create_commit and not upload_folder: the latter may split a large folder over several commits.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    head = api.repo_info(repository, repo_type=part.kind).sha
    there = api.list_repo_files(repository, repo_type=part.kind, revision=head)
    here = {file.as_posix() for file in part.files}
    operations = [CommitOperationAdd(name, part.folder / name) for name in sorted(here)]
    operations += [CommitOperationDelete(name) for name in there if name not in here and not name.startswith(".")]
    commit = api.create_commit(
        repository,
        operations,
        commit_message=f"{len(here)} files by ops6k",
        repo_type=part.kind,
        parent_commit=head,
    )
    return Published(repository, commit.oid, changed=commit.oid != head)


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
