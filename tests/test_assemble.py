"""The whole stage on a made-up build: what is written, what is refused, and what readers make of it."""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import synthetic_build as synthetic
import yaml

from ops6k.assemble import run
from ops6k.assemble.facts import device_of, facts, is_cpu
from ops6k.assemble.funnel import FunnelRow
from ops6k.assemble.join import Story, load
from ops6k.assemble.schema import documented, features, field_docs
from ops6k.assemble.tasks import guard, task_of, write_splits
from ops6k.errors import MissingInput, Ops6kError
from ops6k.params import MixParams
from ops6k.records import Environment, Match, Operator, Outcome, Reason, Report, Task, Validation, task_id
from ops6k.screen.judge import environment
from ops6k.screen.warm import TARGET
from ops6k.store import files_hash, read_rows, to_plain, write_json, write_rows

SPLITS = ("train", "validation", "test")


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps what `datasets` caches out of the home folder."""
    import datasets

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
        yield


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mixed build, assembled to 40 rows."""
    root = tmp_path_factory.mktemp("build")
    data = synthetic.write_build(synthetic.mixed_build(), root)
    run(synthetic.params(root, 40), data)
    return root


@pytest.fixture(scope="module")
def dataset(root: Path) -> Path:
    return root / "data" / "dataset"


def rows(dataset: Path) -> dict[str, list[Task]]:
    return {name: read_rows(dataset / "data" / f"{name}.parquet", Task) for name in SPLITS}


def all_rows(dataset: Path) -> list[Task]:
    return [task for part in rows(dataset).values() for task in part]


def head(dataset: Path) -> dict:
    return yaml.safe_load((dataset / "README.md").read_text().split("---\n")[1])


# What is written


def test_the_rows_are_as_many_as_wanted_in_the_wanted_mix(dataset: Path) -> None:
    tasks = all_rows(dataset)
    assert [len(part) for part in rows(dataset).values()] == [32, 4, 4]
    assert Counter(t.depth for t in tasks) == {1: 2, 2: 14, 3: 10, 4: 8, 5: 6}
    assert Counter(t.dtype for t in tasks) == {"float32": 24, "bfloat16": 10, "float16": 6}
    assert sum(t.data_source == "transformers" for t in tasks) >= 2


def test_task_ids_are_unique_hashes_of_the_code(dataset: Path) -> None:
    tasks = all_rows(dataset)
    assert len({t.task_id for t in tasks}) == len(tasks)
    assert all(t.task_id == task_id(t.code) for t in tasks)


def test_only_accepted_candidates_without_a_rejecting_match_become_rows(root: Path, dataset: Path) -> None:
    build = synthetic.mixed_build()
    refused = {m.candidate_id for m in build.matches if m.reason} | {
        v.candidate_id for v in build.verdicts if v.outcome != Outcome.ACCEPTED
    }
    refused_codes = {c.code for c in build.candidates if c.candidate_id in refused}
    assert refused_codes and not refused_codes & {t.code for t in all_rows(dataset)}


def test_no_cluster_stands_in_two_splits(dataset: Path) -> None:
    clusters = [{t.cluster for t in part} for part in rows(dataset).values()]
    assert sum(map(len, clusters)) == len(set.union(*clusters))


def test_a_second_run_writes_the_same_bytes(root: Path, dataset: Path) -> None:
    before = files_hash(dataset)
    run(synthetic.params(root, 40), root / "data")
    assert files_hash(dataset) == before


def test_a_row_carries_the_evidence_of_its_verdict_and_its_nearest_problem(dataset: Path) -> None:
    build = synthetic.mixed_build()
    by_code = {c.code: c for c in build.candidates}
    verdicts = {v.candidate_id: v for v in build.verdicts}
    scores = {m.candidate_id: m.score for m in build.matches if m.benchmark}
    for task in all_rows(dataset):
        made = by_code[task.code]
        assert task.timing == verdicts[made.candidate_id].timing
        assert task.similarity is None or task.similarity.score == scores[made.candidate_id]


def test_a_resized_candidate_names_its_parent(tmp_path: Path) -> None:
    build = synthetic.plain_build([])
    synthetic._resize_one(build)
    data = synthetic.write_build(build, tmp_path)
    run(synthetic.params(tmp_path, 1, mix=MixParams({2: 1.0}, {"float32": 1.0}, 0.0), splits=(1, 0, 0)), data)
    (task,) = all_rows(data / "dataset")
    assert (task.parent, task.round) == (build.candidates[0].candidate_id, 1)


# The funnel


def test_the_funnel_has_one_row_for_every_candidate_ever_made(dataset: Path) -> None:
    build = synthetic.mixed_build()
    funnel = read_rows(dataset / "funnel" / "funnel.parquet", FunnelRow)
    assert sorted(r.candidate_id for r in funnel) == sorted(c.candidate_id for c in build.candidates)
    assert sum(r.split is not None for r in funnel) == 40


def test_the_funnel_says_what_dedup_rejected_and_why(dataset: Path) -> None:
    funnel = {r.candidate_id: r for r in read_rows(dataset / "funnel" / "funnel.parquet", FunnelRow)}
    copy, near = (funnel[synthetic.mixed_build().candidates[place].candidate_id] for place in (0, 2))
    assert (copy.outcome, copy.reason, copy.stage) == ("contaminated", "contaminated/benchmark", "dedup")
    assert copy.message == "text similarity 0.980 to 19_ReLU of kernelbench"
    assert (near.outcome, near.reason, near.split) == ("duplicate", "duplicate/near", None)


def test_the_funnel_holds_no_code() -> None:
    assert "code" not in {field.name for field in dataclasses.fields(FunnelRow)}


def test_the_cards_funnel_adds_up_to_the_funnel_file(dataset: Path) -> None:
    text = (dataset / "README.md").read_text()
    taken, kept, reasons = re.search(r"^\| screen \| (\d+) \| (\d+) \| (.*) \|$", text, re.M).groups()
    funnel = read_rows(dataset / "funnel" / "funnel.parquet", FunnelRow)
    by_screen = Counter(r.reason for r in funnel if r.stage == "screen")
    assert int(taken) == len(funnel) and int(kept) == len(funnel) - by_screen.total()
    assert {name: int(count) for name, count in re.findall(r"(\S+) (\d+)", reasons)} == by_screen
    assert "| fuse | 128 | 121 | dry run failed 7 |" in text  # from its own report: it drops seven before they are candidates


# Short stock


def test_too_few_rows_stop_with_one_line_and_leave_the_old_set_alone(tmp_path: Path) -> None:
    data = synthetic.write_build(synthetic.plain_build([(2, "float32", False)] * 6), tmp_path)
    mix = MixParams({1: 0.5, 2: 0.5}, {"float32": 1.0}, 0.0)
    run(synthetic.params(tmp_path, 6, "allow", mix=mix), data)
    before = files_hash(data / "dataset")
    with pytest.raises(Ops6kError, match=r"depth 1 wants 3, has 0 \(3 short\)"):
        run(synthetic.params(tmp_path, 6, "stop", mix=mix), data)
    assert files_hash(data / "dataset") == before
    assert sorted(p.name for p in data.iterdir()) == ["candidates", "dataset", "matches", "verdicts"]


def test_allowed_shortage_takes_what_there_is_and_says_so_in_report_and_card(tmp_path: Path) -> None:
    data = synthetic.write_build(synthetic.plain_build([(1, "float32", False)] * 2 + [(2, "float32", False)] * 6), tmp_path)
    mix = MixParams({1: 0.5, 2: 0.5}, {"float32": 1.0}, 0.0)
    report = run(synthetic.params(tmp_path, 10, "allow", mix=mix), data)
    assert (report.taken, report.kept) == (8, 8)
    assert "depth 1: wanted 5, got 2, 2 available" in report.notes
    assert "depth 1 has 2 of 5 rows" in (data / "dataset" / "README.md").read_text()


def test_surplus_of_one_depth_fills_what_another_lacks_when_allowed(tmp_path: Path) -> None:
    data = synthetic.write_build(synthetic.plain_build([(1, "float32", False)] * 2 + [(2, "float32", False)] * 20), tmp_path)
    mix = MixParams({1: 0.5, 2: 0.5}, {"float32": 1.0}, 0.0)
    run(synthetic.params(tmp_path, 10, "allow", mix=mix), data)
    assert Counter(t.depth for t in all_rows(data / "dataset")) == {1: 2, 2: 8}


def test_nothing_accepted_is_an_error_even_when_shortage_is_allowed(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)])
    build.verdicts[0] = synthetic.rejected(build.candidates[0], Reason.RUNTIME)
    data = synthetic.write_build(build, tmp_path)
    with pytest.raises(Ops6kError, match="no accepted task"):
        run(synthetic.params(tmp_path, 10, "allow"), data)


# Inputs that do not fit together


@pytest.mark.parametrize(
    ("file", "stage"),
    [
        ("candidates/candidates", "fuse"),
        ("verdicts/verdicts", "screen"),
        ("matches/matches", "dedup"),
        ("matches/clusters", "dedup"),
    ],
)
def test_a_missing_table_is_named_with_the_stage_that_makes_it(tmp_path: Path, file: str, stage: str) -> None:
    data = synthetic.write_build(synthetic.mixed_build(20), tmp_path)
    (data / f"{file}.parquet").unlink()
    with pytest.raises(MissingInput, match=rf"{file}\.parquet: no such file; `ops6k {stage}` makes it"):
        load(data)


def test_an_accepted_candidate_that_dedup_has_not_seen_stops_the_stage(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)] * 3)
    build.clusters.pop()
    data = synthetic.write_build(build, tmp_path)
    with pytest.raises(MissingInput, match=f"{build.candidates[2].candidate_id} was not compared; run `ops6k dedup` again"):
        load(data)


def test_verdicts_of_another_build_stop_the_stage(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)] * 3)
    stranger = synthetic.candidate(77, 1)
    build.verdicts.append(synthetic.accepted(stranger))
    data = synthetic.write_build(build, tmp_path)
    with pytest.raises(MissingInput, match=f"verdicts: {stranger.candidate_id} is no candidate of this build"):
        load(data)


def test_an_accepted_verdict_without_measurements_is_named(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)])
    build.verdicts[0] = dataclasses.replace(build.verdicts[0], timing=None)
    data = synthetic.write_build(build, tmp_path)
    with pytest.raises(Ops6kError, match=f"{build.candidates[0].candidate_id} has no timing"):
        run(synthetic.params(tmp_path, 1, "allow"), data)


def test_an_unreadable_line_of_the_harvest_is_named(tmp_path: Path) -> None:
    data = synthetic.write_build(synthetic.mixed_build(20), tmp_path)
    with (tmp_path / "seed_ops" / "torch.jsonl").open("a") as file:
        file.write("{not json\n")
    with pytest.raises(MissingInput, match=r"torch\.jsonl: line 9 is no operator"):
        run(synthetic.params(tmp_path, 5, "allow"), data)


# The guard, against sets that the selection would never make


def test_the_guard_refuses_a_row_with_a_rejecting_match(tmp_path: Path) -> None:
    stories = load(synthetic.write_build(synthetic.mixed_build(30), tmp_path))
    copy = next(s for s in stories if s.rejecting)
    write_splits(tmp_path / "set", {"train": [copy]})
    with pytest.raises(Ops6kError, match="no accepted task without a rejecting match"):
        guard(tmp_path / "set", stories)


def test_the_guard_refuses_a_rejected_candidate(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)] * 2)
    good = load(synthetic.write_build(build, tmp_path / "one"))
    write_splits(tmp_path / "set", {"train": good})
    build.verdicts[0] = synthetic.rejected(build.candidates[0], Reason.RUNTIME)
    guard(tmp_path / "set", good)
    with pytest.raises(Ops6kError, match=f"train row {task_id(build.candidates[0].code)}"):
        guard(tmp_path / "set", load(synthetic.write_build(build, tmp_path / "two")))


def test_the_guard_refuses_a_cluster_in_two_splits(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)] * 2)
    build.clusters[:] = [(id_, "same") for id_, _ in build.clusters]
    stories = load(synthetic.write_build(build, tmp_path))
    write_splits(tmp_path / "set", {"train": stories[:1], "test": stories[1:]})
    with pytest.raises(Ops6kError, match="cluster same stands in test and train"):
        guard(tmp_path / "set", stories)


def test_the_guard_refuses_a_task_that_stands_there_twice(tmp_path: Path) -> None:
    stories = load(synthetic.write_build(synthetic.plain_build([(1, "float32", False)]), tmp_path))
    write_splits(tmp_path / "set", {"train": [stories[0], stories[0]]})
    with pytest.raises(Ops6kError, match="stands in the set 2 times"):
        guard(tmp_path / "set", stories)


# Readers


def test_load_dataset_opens_every_config_and_ops_is_a_list_of_strings(dataset: Path) -> None:
    from datasets import load_dataset

    tasks = load_dataset(str(dataset))
    assert list(tasks) == list(SPLITS)
    first = tasks["train"][0]
    assert first["ops"] and all(isinstance(op, str) for op in first["ops"])
    assert first["timing"]["eager_ms"] > 0
    assert len(load_dataset(str(dataset), "funnel")["train"]) == 122
    assert len(load_dataset(str(dataset), "operators")["train"]) == 10


def test_streaming_gives_the_same_rows_as_the_file(dataset: Path) -> None:
    from datasets import load_dataset

    stream = load_dataset(str(dataset), split="validation", streaming=True)
    assert [row["task_id"] for row in stream] == [task.task_id for task in rows(dataset)["validation"]]


def test_pandas_reads_the_files_directly(dataset: Path) -> None:
    frame = pd.read_parquet(dataset / "data" / "train.parquet")
    assert len(frame) == 32
    assert list(frame["ops"].map(len)) == list(frame["depth"])


def test_duckdb_and_polars_read_the_files_directly_structs_and_all(dataset: Path) -> None:
    import duckdb
    import polars

    file = str(dataset / "data" / "train.parquet")
    wanted = sorted((row.task_id, row.timing.eager_ms, list(row.ops)) for row in rows(dataset)["train"])
    frame = polars.read_parquet(file)
    assert sorted(zip(frame["task_id"], frame["timing"].struct.field("eager_ms"), frame["ops"].to_list(), strict=True)) == wanted
    found = duckdb.sql(f"select task_id, timing.eager_ms, ops from '{file}' where len(ops) = depth").fetchall()
    assert sorted(found) == wanted


def test_the_files_are_zstd_and_large_ones_have_several_row_groups(dataset: Path, tmp_path: Path) -> None:
    column = pq.ParquetFile(dataset / "data" / "train.parquet").metadata.row_group(0).column(3)
    assert column.compression == "ZSTD"
    stories = load(synthetic.write_build(synthetic.plain_build([(1, "float32", False)] * 1100), tmp_path))
    write_splits(tmp_path / "set", {"train": stories})
    assert pq.ParquetFile(tmp_path / "set" / "data" / "train.parquet").num_row_groups == 3


def test_a_set_too_small_for_three_splits_still_loads(tmp_path: Path) -> None:
    from datasets import load_dataset

    data = synthetic.write_build(synthetic.plain_build([(2, "float32", False)] * 2), tmp_path)
    run(synthetic.params(tmp_path, 2, "allow"), data)
    loaded = load_dataset(str(data / "dataset"))
    assert {name: len(part) for name, part in loaded.items()} == {"train": 2}


# The card


def test_the_head_is_valid_card_metadata_for_the_hub(dataset: Path) -> None:
    from huggingface_hub import DatasetCard, DatasetCardData

    card = DatasetCard.load(dataset / "README.md")
    assert isinstance(card.data, DatasetCardData)
    assert (card.data.license, card.data.size_categories) == ("cc-by-4.0", ["n<1K"])
    assert [config["config_name"] for config in card.data.to_dict()["configs"]] == ["default", "funnel", "operators"]
    assert card.text.strip().startswith("# Ops6K")


@pytest.mark.parametrize("record", [Task, FunnelRow, Operator])
def test_the_features_in_the_head_are_what_datasets_derives_from_the_schema(record: type) -> None:
    from datasets import Features

    from ops6k.store import schema_of

    assert features(record) == Features.from_arrow_schema(schema_of(record))._to_yaml_list()


def test_every_file_named_in_the_head_exists_and_every_row_count_is_right(dataset: Path) -> None:
    files = {(c["config_name"], f["split"]): dataset / f["path"] for c in head(dataset)["configs"] for f in c["data_files"]}
    counts = {(i["config_name"], s["name"]): s["num_examples"] for i in head(dataset)["dataset_info"] for s in i["splits"]}
    assert {key: pq.read_metadata(file).num_rows for key, file in files.items()} == counts
    assert len(files) == 5


@pytest.mark.parametrize("record", [Task, FunnelRow, Operator])
def test_every_published_field_says_what_it_is(record: type) -> None:
    assert not [field.name for field in documented(record) if not field.doc]


def test_the_card_documents_every_column_with_its_path(dataset: Path) -> None:
    text = (dataset / "README.md").read_text()
    assert "| `timing.eager_ms` | float64 |  | Median device time of one eager forward, in ms. |" in text
    assert "| `similarity` | struct | yes |" in text
    assert "| `ops` | list of string |  |" in text


def test_a_set_measured_on_a_cpu_by_the_composer_says_so_before_anything_else(dataset: Path) -> None:
    text = (dataset / "README.md").read_text()
    opening = text[text.index("# Ops6K") : text.index("```python")]
    assert "screened and timed on a CPU, not on a GPU" in opening
    assert "All 40 tasks were put together by the built-in composer" in opening


def test_the_text_of_a_device_says_what_is_recorded_for_a_cpu() -> None:
    recorded = environment(TARGET).device
    assert recorded == synthetic.CPU.device and device_of(synthetic.CPU) == "a CPU"
    assert all(f"`{recorded}`" in field_docs(record)["device"] for record in (Environment, Validation))


@pytest.mark.parametrize(
    ("device", "driver", "expected"),
    [
        ("x86_64", None, True),
        ("aarch64", None, True),
        ("cpu", None, True),
        ("AMD64 Family 25 Model 33", None, True),
        ("NVIDIA H200", "570.1", False),
        ("NVIDIA H200", None, False),
        ("Tesla V100-SXM2-16GB", None, False),
        ("AMD Instinct MI300X", None, False),
    ],
)
def test_what_is_not_known_to_be_a_gpu_counts_as_a_cpu(device: str, driver: str | None, expected: bool) -> None:
    assert is_cpu(dataclasses.replace(synthetic.CPU, device=device, driver=driver)) is expected


def test_a_set_from_a_model_and_a_gpu_has_neither_warning(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)] * 4, environment=synthetic.H200)
    build.candidates[:] = [dataclasses.replace(c, source="some-model") for c in build.candidates]
    data = synthetic.write_build(build, tmp_path)
    run(synthetic.params(tmp_path, 4, "allow"), data)
    text = (data / "dataset" / "README.md").read_text()
    assert "CPU" not in text[: text.index("## How it was made")] and "composer" not in text[: text.index("## How it was made")]
    assert "NVIDIA H200" in text and "by some-model (4 rows)" in text


def test_the_cards_time_table_says_what_a_second_computation_says(dataset: Path) -> None:
    eager = pd.Series([task.timing.eager_ms for task in all_rows(dataset)])
    text = (dataset / "README.md").read_text()
    cells = re.search(r"^\| eager device time, ms \| (.*) \|$", text, re.M).group(1).split(" | ")
    expected = [
        eager.min(),
        eager.quantile(0.05),
        eager.median(),
        eager.quantile(0.95),
        eager.max(),
        eager.prod() ** (1 / len(eager)),
    ]
    assert [float(cell) for cell in cells] == pytest.approx(expected, rel=5e-3)


def test_shares_of_rows_faster_and_slower_under_compile_use_the_five_per_cent_of_the_reward() -> None:
    build = synthetic.plain_build([(1, "float32", False)] * 4)
    ratios = (1.04, 1.06, 0.96, 0.90)
    tasks = []
    for made, verdict, ratio in zip(build.candidates, build.verdicts, ratios, strict=True):
        timing = dataclasses.replace(verdict.timing, eager_ms=2.0, compiled_ms=2.0 / ratio)
        tasks.append(task_of(Story(made, dataclasses.replace(verdict, timing=timing), (), "c")))
    known = facts(tasks)
    assert (known.compiled_faster, known.compiled_slower) == (0.25, 0.25)
    assert known.speedup.mean == pytest.approx((1.04 * 1.06 * 0.96 * 0.90) ** 0.25)


def test_the_nearest_problem_is_one_alike_as_a_whole_where_there_is_one() -> None:
    made = synthetic.candidate(1, 2)
    same_set = Match(made.candidate_id, "operators", 1.0, "A", "kernelbench", 1, None)
    part = Match(made.candidate_id, "contains", 0.75, "B", "kernelbench", 1, None)
    text = Match(made.candidate_id, "text", 0.4, "C", "kernelbench", 1, None)
    graph = Match(made.candidate_id, "graph", 0.6, "D", "kernelbench", 1, None)
    inside = Match(made.candidate_id, "text", 0.99, "some-id", None, None, None)
    assert Story(made, None, (same_set, part, text, graph, inside), "c").nearest == graph
    assert Story(made, None, (same_set, part, inside), "c").nearest == same_set
    assert Story(made, None, (inside,), "c").nearest is None


def test_the_card_counts_flagged_rows_by_benchmark_and_says_what_dedup_compared_with(tmp_path: Path) -> None:
    build = synthetic.plain_build([(1, "float32", False)] * 4)
    one, other, third, _ = (c.candidate_id for c in build.candidates)
    build.matches.extend(
        [
            Match(one, "contains", 0.8, "P", "kernelbench", 2, None),
            Match(one, "operators", 1.0, "P", "kernelbench", 2, None),
            Match(other, "operators", 1.0, "P", "kernelbench", 2, None),
            Match(third, "operators", 0.9, "P", "kernelbench", 2, None),
        ]
    )
    data = synthetic.write_build(build, tmp_path)
    write_json(
        data / "matches" / "report.json", to_plain(Report("dedup", 4, 4, (), ("compared with 270 references of kernelbench",)))
    )
    run(synthetic.params(tmp_path, 4, "allow"), data)
    text = (data / "dataset" / "README.md").read_text()
    assert "| kernelbench | 4 | 0 | 4 | 1 | 2 |" in text
    assert "Dedup compared with 270 references of kernelbench." in text
    assert "only flagged for `benchmark/contains`, `benchmark/operators`:" in text


def test_the_figures_that_the_card_shows_are_there(dataset: Path) -> None:
    shown = re.findall(r"!\[.*?\]\((.*?)\)", (dataset / "README.md").read_text())
    assert len(shown) == 3
    assert all((dataset / path).read_bytes().startswith(b"\x89PNG") for path in shown)


def snippet(dataset: Path) -> str:
    """The card's own code, pointed at the folder."""
    text = (dataset / "README.md").read_text()
    code = text[text.index("## Verify a kernel") :].split("```python\n")[1].split("```")[0]
    assert '"ORG/NAME"' in code
    return code.replace('"ORG/NAME"', repr(str(dataset)))


def execute(code: str) -> None:
    exec(compile(code, "verify.py", "exec"), {"__name__": "verify"})


def test_the_cards_snippet_passes_the_reference(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    execute(snippet(dataset))
    assert capsys.readouterr().out.startswith("correct; reference ")


def test_the_cards_snippet_fails_a_wrong_kernel(dataset: Path) -> None:
    body = "def forward(self, x):\n        return super().forward(x) + 0.1\n"
    with pytest.raises(AssertionError, match="Tensor-likes are not close"):
        execute(snippet(dataset).replace("    pass\n", f"    {body}", 1))


def test_write_rows_of_tasks_reads_back_equal(tmp_path: Path, dataset: Path) -> None:
    tasks = all_rows(dataset)
    assert read_rows(write_rows(tmp_path / "again.parquet", tasks, Task), Task) == tasks
