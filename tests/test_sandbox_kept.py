"""What a server's warm-up compiled is there for the next one: a copy, whole or not at all, and never an error."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ops6k.sandbox import Sandbox, kept


@pytest.fixture
def made(tmp_path: Path) -> Path:
    folder = tmp_path / "server"
    (folder / "precompiled_headers").mkdir(parents=True)
    (folder / "precompiled_headers" / "a.h.gch").write_bytes(b"compiled")
    (folder / "fxgraph").mkdir()
    (folder / "fxgraph" / "result").write_bytes(b"")
    return folder


def test_the_next_server_gets_a_copy_and_what_it_does_to_it_is_its_own_affair(made: Path, tmp_path: Path) -> None:
    there, own = tmp_path / "cache" / "key", tmp_path / "next"
    kept.keep(made, there)
    own.mkdir()
    kept.give(there, own)
    header = own / "precompiled_headers" / "a.h.gch"
    assert header.read_bytes() == b"compiled"
    assert not (own / "fxgraph").exists()  # else a server would never import what compiles
    header.write_bytes(b"changed by a child")
    assert (there / "precompiled_headers" / "a.h.gch").read_bytes() == b"compiled"
    assert os.listdir(there.parent) == ["key"]


@pytest.mark.parametrize("damage", [lambda content: content[:3], lambda content: b"", lambda content: b"X" + content[1:]])
def test_what_is_damaged_is_removed_and_made_anew(made: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    there, own = tmp_path / "cache" / "key", tmp_path / "next"
    kept.keep(made, there)
    header = there / "precompiled_headers" / "a.h.gch"
    header.write_bytes(damage(header.read_bytes()))
    own.mkdir()
    kept.give(there, own)
    assert list(own.iterdir()) == [] and not there.exists()
    kept.keep(made, there)
    kept.give(there, own)
    assert (own / "precompiled_headers" / "a.h.gch").read_bytes() == b"compiled"


def test_only_the_versions_used_last_stay_and_torn_copies_go(made: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for age in range(kept.KEPT + 2):
        (cache / f"old{age}").mkdir(parents=True)
        os.utime(cache / f"old{age}", (time.time() - 100 * (age + 1),) * 2)
    (cache / ".torn").mkdir()
    os.utime(cache / ".torn", (0, 0))
    kept.keep(made, cache / "key")
    assert sorted(os.listdir(cache)) == ["key", *(f"old{age}" for age in range(kept.KEPT - 1))]


def test_a_home_that_cannot_be_written_to_is_no_error(made: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    kept.keep(made, tmp_path / "file" / "key")
    kept.give(tmp_path / "file" / "key", made)
    assert (made / "fxgraph").exists()


def test_another_torch_warm_up_or_device_has_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    places = {kept.folder_of("a:b", "cpu"), kept.folder_of("a:c", "cpu"), kept.folder_of("a:b", "cuda")}
    monkeypatch.setattr(kept, "version", lambda name: "99.0")
    places.add(kept.folder_of("a:b", "cpu"))
    assert len(places) == 4 and all(place.is_relative_to(tmp_path) for place in places)


def test_a_server_without_a_warm_up_keeps_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Sandbox(device="cpu", workers=1, work=tmp_path, preload="json"):
        assert not (tmp_path / "cache").exists()
