"""Publishing, against a Hub in memory over real HTTP."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dedup_tasks import framed
from servers import hub_server
from servers.hub_server import HubServer

from ops6k import params as parameters
from ops6k.audit import audit
from ops6k.errors import HubError, MissingInput
from ops6k.params import Params
from ops6k.publish import hub, publish, to_folder

ROOT = Path(__file__).parent.parent
TASKS = [
    framed("", "return torch.kthvalue(x, 3, dim=1)[0]"),
    framed("", "return torch.erfinv(x.clamp(-0.9, 0.9)).sum(1)"),
]
CARD = "---\nlicense: cc-by-4.0\nconfigs:\n- config_name: default\n  data_files:\n  - {split: train, path: data/train-*.parquet}\n---\n# Tasks\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(hub, "_PAUSES_S", (0.01, 0.01, 0.01))
    with hub_server.running() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("HF_TOKEN", hub_server.TOKEN)
        yield running


@pytest.fixture(scope="module")
def params() -> Params:
    return parameters.load(ROOT / "params.yaml", settings=["screen.window_ms=[0.00001, 1000]"])


@pytest.fixture
def data(audited: Path, tmp_path: Path) -> Path:
    return shutil.copytree(audited, tmp_path / "data")


@pytest.fixture(scope="module")
def audited(params: Params, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data set and agent of a build, with what the audit of the two tasks found."""
    data = _built(tmp_path_factory.mktemp("built"))
    assert audit(str(data / "dataset"), params, data / ".work" / "audit").faults == ()
    return data


def _built(data: Path) -> Path:
    (data / "dataset" / "data").mkdir(parents=True)
    (data / "dataset" / "README.md").write_text(CARD)
    rows = {"task_id": ["a", "b"], "ops": [["torch.kthvalue"], ["torch.erfinv", "torch.clamp", "torch.sum"]], "code": TASKS}
    pq.write_table(pa.table(rows), data / "dataset" / "data" / "train-00000.parquet", compression="zstd")
    (data / "agent").mkdir()
    (data / "agent" / "policy.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    (data / "agent" / "config.json").write_text("{}")
    (data / "agent" / ".cache").write_text("left here")
    return data


def files_of(server: HubServer, kind: str, name: str) -> set[str]:
    return set(server.repos[kind, name].commits[-1][1]) - {".gitattributes"}


def test_dataset_and_agent_go_to_two_private_repositories_in_one_commit_each(
    server: HubServer, params: Params, data: Path
) -> None:
    lines = publish(params, data, what="all", to="lab")
    assert files_of(server, "dataset", "lab/ops6k") == {"README.md", "data/train-00000.parquet"}
    assert files_of(server, "model", "lab/ops6k-agent") == {"policy.safetensors", "config.json"}
    for (_, name), repo in server.repos.items():
        assert repo.private
        assert len(repo.commits) == 2  # the Hub's own first one, and ours
        assert any(name in line and repo.commits[-1][0] in line for line in lines)
    assert not server.unknown


def test_publishing_the_same_again_makes_no_commit_and_says_so(server: HubServer, params: Params, data: Path) -> None:
    publish(params, data, what="dataset", to="lab")
    (line,) = publish(params, data, what="dataset", to="lab")
    assert "nothing changed, commit" in line
    assert len(server.repos["dataset", "lab/ops6k"].commits) == 2


def test_a_changed_folder_replaces_what_the_repository_held(server: HubServer, params: Params, data: Path) -> None:
    publish(params, data, what="agent", to="lab")
    (data / "agent" / "config.json").rename(data / "agent" / "actions.json")
    publish(params, data, what="agent", to="lab")
    assert files_of(server, "model", "lab/ops6k-agent") == {"policy.safetensors", "actions.json"}
    assert ".gitattributes" in server.repos["model", "lab/ops6k-agent"].commits[-1][1]
    assert len(server.repos["model", "lab/ops6k-agent"].commits) == 3


def test_what_differs_from_what_is_there_is_told_file_by_file(server: HubServer, params: Params, data: Path) -> None:
    lines = publish(params, data, what="all", to="lab")
    assert [line for line in lines if line.startswith("  +")] == [
        f"  + {name} ({(data / folder / name).stat().st_size:,} bytes)"
        for folder, name in (
            ("dataset", "README.md"),
            ("dataset", "data/train-00000.parquet"),
            ("agent", "config.json"),
            ("agent", "policy.safetensors"),
        )
    ]
    (data / "agent" / "config.json").write_text('{"seed": 1}')
    (data / "agent" / "policy.safetensors").rename(data / "agent" / "other.safetensors")
    *changes, line = publish(params, data, what="agent", to="lab")
    assert changes == [
        "  ~ config.json (11 bytes, were 2)",
        "  + other.safetensors (16 bytes)",
        "  - policy.safetensors",
    ]
    assert "2 files, commit" in line


def test_a_repository_may_be_named_whole_but_only_for_one_of_the_two(server: HubServer, params: Params, data: Path) -> None:
    publish(params, data, what="agent", repo="lab/my-agent")
    assert files_of(server, "model", "lab/my-agent") == {"policy.safetensors", "config.json"}
    for what, repo in (("all", "lab/both"), ("dataset", "no-organisation"), ("dataset", "a/b/c")):
        with pytest.raises(HubError, match="one repository holds the data set or the agent"):
            publish(params, data, what=what, repo=repo)
    assert list(server.repos) == [("model", "lab/my-agent")]


def test_a_tag_names_the_commit_and_is_never_moved(server: HubServer, params: Params, data: Path) -> None:
    (*_, line) = publish(params, data, what="agent", to="lab", tag="v1")
    repo = server.repos["model", "lab/ops6k-agent"]
    first = repo.commits[-1][0]
    assert repo.tags == {"v1": first} and line.endswith("tag v1")
    assert publish(params, data, what="agent", to="lab", tag="v1")[-1].endswith("tag v1")
    (data / "agent" / "config.json").write_text('{"seed": 1}')
    with pytest.raises(HubError, match=f"nothing was published: the tag v1 stands at commit {first[:8]}"):
        publish(params, data, what="agent", to="lab", tag="v1")
    assert repo.tags == {"v1": first} and repo.commits[-1][0] == first
    publish(params, data, what="agent", to="lab", tag="v2")
    assert repo.tags == {"v1": first, "v2": repo.commits[-1][0]}
    assert not server.unknown


@pytest.mark.slow
def test_what_was_published_is_what_load_dataset_loads(server: HubServer, params: Params, data: Path, tmp_path: Path) -> None:
    publish(params, data, what="dataset", to="lab")
    sha = server.repos["dataset", "lab/ops6k"].commits[-1][0]
    script = "import json, sys; from datasets import load_dataset; print(json.dumps(load_dataset('lab/ops6k', revision=sys.argv[1])['train'][:]))"
    # A process of its own: datasets reads HF_ENDPOINT when it is imported.
    env = os.environ | {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    done = subprocess.run([sys.executable, "-c", script, sha], env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == pq.read_table(data / "dataset" / "data" / "train-00000.parquet").to_pydict()


@pytest.mark.parametrize("where", ["/api/repos/create", "GET /api/datasets", "/tree/", "/commit/", "validate-yaml"])
def test_a_hub_that_fails_once_is_asked_again(server: HubServer, params: Params, data: Path, where: str) -> None:
    server.faults.append((where, 503))
    publish(params, data, what="dataset", to="lab")
    assert not server.faults
    assert len(server.repos["dataset", "lab/ops6k"].commits) == 2


def test_a_commit_whose_reply_was_lost_is_found_done(server: HubServer, params: Params, data: Path) -> None:
    publish(params, data, what="agent", to="lab")
    (data / "agent" / "config.json").rename(data / "agent" / "actions.json")  # a deletion: repeated blindly it would fail
    server.lost.append("/commit/")
    publish(params, data, what="agent", to="lab")
    assert not server.lost
    assert len(server.repos["model", "lab/ops6k-agent"].commits) == 3


@pytest.mark.parametrize("where", ["PUT /lfs/upload/", "/commit/", "/lfs/objects/batch"])
def test_a_connection_cut_in_mid_upload_is_made_anew_and_the_commit_is_whole(
    server: HubServer, params: Params, data: Path, where: str
) -> None:
    server.cut.append(where)
    publish(params, data, what="dataset", to="lab")
    assert not server.cut
    (_, files) = server.repos["dataset", "lab/ops6k"].commits[-1]
    assert len(server.repos["dataset", "lab/ops6k"].commits) == 2
    here = {
        path.relative_to(data / "dataset").as_posix(): path.read_bytes()
        for path in (data / "dataset").rglob("*")
        if path.is_file()
    }
    assert {name: content for name, content in files.items() if name in here} == here


def test_a_connection_that_is_cut_every_time_is_one_clear_line_and_no_commit(
    server: HubServer, params: Params, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # the library's own pauses add up to 23 s
    server.cut.extend(["PUT /lfs/upload/"] * 100)
    with pytest.raises(HubError, match=r"^lab/ops6k: Error while uploading [^\n]+ the Hub cannot be reached: [^\n]+$"):
        publish(params, data, what="dataset", to="lab")
    assert len(server.repos["dataset", "lab/ops6k"].commits) == 1  # the Hub's own first one


def test_a_hub_that_keeps_failing_is_one_clear_line(server: HubServer, params: Params, data: Path) -> None:
    server.faults.extend([("/api/repos/create", 500)] * 10)
    with pytest.raises(HubError, match=r"^lab/ops6k: the Hub answers 500: [^\n]+$"):
        publish(params, data, what="dataset", to="lab")


def test_a_hub_that_is_not_there_is_one_clear_line(
    server: HubServer, params: Params, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HubError, match=r"^lab/ops6k: the Hub cannot be reached: [^\n]+$"):
        publish(params, data, what="dataset", to="lab")


def test_a_commit_by_somebody_else_in_between_is_not_overwritten(server: HubServer, params: Params, data: Path) -> None:
    publish(params, data, what="agent", to="lab")
    (data / "agent" / "config.json").write_text('{"changed": 1}')
    server.faults.append(("/commit/", 412))
    with pytest.raises(HubError, match="somebody else has committed meanwhile"):
        publish(params, data, what="agent", to="lab")


@pytest.mark.parametrize(("token", "says"), [("hf_wrong", r"does not accept the token \(401\)"), (None, "no Hugging Face token")])
def test_without_a_good_token_there_is_one_clear_line(
    server: HubServer, params: Params, data: Path, monkeypatch: pytest.MonkeyPatch, token: str | None, says: str
) -> None:
    if token is None:
        monkeypatch.delenv("HF_TOKEN")
        monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(data / "no-token"))
    else:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(HubError, match=says) as caught:
        publish(params, data, what="dataset", to="lab")
    assert "\n" not in str(caught.value)
    assert "hf_wrong" not in str(caught.value)
    assert not server.repos


def test_an_organisation_that_is_not_yours_is_one_clear_line(server: HubServer, params: Params, data: Path) -> None:
    with pytest.raises(HubError, match=r"^forbidden/ops6k: .*\(403\)"):
        publish(params, data, what="dataset", to="forbidden")


def test_without_a_destination_nothing_is_published_and_it_says_so(server: HubServer, params: Params, data: Path) -> None:
    (line,) = publish(params, data)
    assert line.startswith("nothing is published")
    assert not server.log


@pytest.mark.parametrize("secret", ["hf_" + "a1B2" * 9, "sk-" + "abcDEF0123" * 3, "plain-but-mine"])
@pytest.mark.parametrize("place", ["README.md", "data/train-00000.parquet", "notes.txt"])
def test_a_secret_in_any_file_stops_everything(
    server: HubServer, params: Params, data: Path, monkeypatch: pytest.MonkeyPatch, secret: str, place: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "plain-but-mine")
    file = data / "dataset" / place
    if file.suffix == ".parquet":
        rows = [{"code": "x = 1  # a line of code\n" * 40}, {"code": f"key = '{secret}'"}]
        pq.write_table(pa.table({"nested": rows}), file, compression="zstd", write_statistics=False)
    else:
        file.write_text(f"{CARD if place == 'README.md' else ''} {secret}")
    with pytest.raises(HubError, match=r"train-00000|README|notes") as caught:
        publish(params, data, what="all", to="lab")
    assert secret not in str(caught.value)
    assert not server.log


def test_a_data_set_in_which_the_audit_finds_a_fault_stays_here(
    server: HubServer, params: Params, data: Path, tmp_path: Path
) -> None:
    rows = {"task_id": ["a", "b"], "ops": [["torch.erf"], ["torch.kthvalue"]], "code": [TASKS[0], TASKS[0]]}
    pq.write_table(pa.table(rows), data / "dataset" / "data" / "train-00000.parquet")
    for attempt in (
        lambda: publish(params, data, what="all", to="lab"),
        lambda: to_folder(params, data, tmp_path / "out"),
    ):
        with pytest.raises(HubError, match=r"finds 2 faults.*row 0: invalid/label: .*torch\.erf"):
            attempt()
    assert not server.log and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_an_audit_of_what_was_published_links_each_fault_to_its_row(
    server: HubServer, params: Params, data: Path, tmp_path: Path
) -> None:
    publish(params, data, what="dataset", to="lab")
    # A process of its own: datasets reads HF_ENDPOINT when it is imported.
    env = os.environ | {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    words = ["audit", "lab/ops6k", "--strict", "--set", "screen.window_ms=[900, 1000]", "--out", str(tmp_path / "report")]
    command = [sys.executable, "-m", "ops6k", *words, "--params", str(ROOT / "params.yaml"), "--data", str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 1 and "2 of 2 rows have a fault" in done.stdout, done.stderr[-2000:]
    faults = json.loads((tmp_path / "report" / "audit.json").read_text(encoding="utf-8"))["faults"]
    assert [fault["kind"] for fault in faults] == ["out_of_range/too_fast"] * 2
    assert faults[1]["link"] == "https://huggingface.co/datasets/lab/ops6k/viewer/default/train?row=1"


def test_words_that_only_resemble_secrets_are_let_through(params: Params, data: Path, tmp_path: Path) -> None:
    (data / "dataset" / "notes.txt").write_text(
        "task-based-on-a-very-long-hyphenated-name hf_hub_download hf_token sk-learn " + "0af1" * 16
    )
    (*_, line) = to_folder(params, data, tmp_path / "out", what="dataset")
    assert line.endswith("3 files")


@pytest.mark.parametrize(
    ("card", "says"),
    [
        (None, "no README.md"),
        ("# Tasks\n", "YAML head"),
        ("---\nlicense: [\n---\n", "not YAML"),
        ("---\njust words\n---\n", "must be a mapping"),
    ],
)
def test_a_data_set_without_a_valid_card_is_refused(
    server: HubServer, params: Params, data: Path, card: str | None, says: str
) -> None:
    (data / "dataset" / "README.md").unlink()
    if card is not None:
        (data / "dataset" / "README.md").write_text(card)
    with pytest.raises(HubError, match=says):
        publish(params, data, what="dataset", to="lab")
    assert not server.log


def test_a_missing_folder_names_the_stage_that_makes_it(params: Params, tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="ops6k assemble"):
        publish(params, tmp_path, what="dataset", to="lab")
    with pytest.raises(MissingInput, match="ops6k train"):
        to_folder(params, tmp_path, tmp_path / "out", what="agent")


def test_a_folder_gets_what_the_hub_would_get_and_nothing_of_earlier_times(params: Params, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    to_folder(params, data, out)
    (out / "ops6k-agent" / "stale.txt").write_text("of an earlier time")
    lines = to_folder(params, data, out)
    found = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    names = {
        "ops6k/README.md": "dataset/README.md",
        "ops6k/data/train-00000.parquet": "dataset/data/train-00000.parquet",
        "ops6k-agent/policy.safetensors": "agent/policy.safetensors",
        "ops6k-agent/config.json": "agent/config.json",
    }
    assert found == {there: (data / here).read_bytes() for there, here in names.items()}
    assert lines == [
        f"{data / 'dataset'} -> {out / 'ops6k'}: nothing changed",
        "  - stale.txt",
        f"{data / 'agent'} -> {out / 'ops6k-agent'}: 2 files",
    ]


def test_what_a_folder_holds_already_is_told_file_by_file_and_left_alone_where_nothing_changed(
    params: Params, data: Path, tmp_path: Path
) -> None:
    assert to_folder(params, data, tmp_path / "out", what="agent")[:-1] == [
        "  + config.json (2 bytes)",
        "  + policy.safetensors (16 bytes)",
    ]
    made = (tmp_path / "out" / "ops6k-agent").stat()
    (line,) = to_folder(params, data, tmp_path / "out", what="agent")
    assert line.endswith(": nothing changed") and (tmp_path / "out" / "ops6k-agent").stat() == made
    (data / "agent" / "config.json").write_text("[]")  # as long as before
    (change, line) = to_folder(params, data, tmp_path / "out", what="agent")
    assert change == "  ~ config.json (2 bytes, were 2)" and line.endswith(": 2 files")
