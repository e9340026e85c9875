"""Decisions: copies are found in every disguise, neighbours stay apart, and without an index nothing passes."""

import dataclasses
import itertools
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from dedup_tasks import TASKS, framed

from ops6k import dedup, store
from ops6k.dedup.canonical import canonical
from ops6k.dedup.decide import Subject, canonical_forms, compare, decide, rejections
from ops6k.dedup.index import Reference, build_index, load_index
from ops6k.dedup.inside import another_class
from ops6k.dedup.neighbours import Components, Exact, Growing, bands, multiset, pairs_in_order
from ops6k.dedup.shingles import jaccard
from ops6k.dedup.subject import folded
from ops6k.dedup.variants import SURE
from ops6k.errors import MissingInput
from ops6k.params import DedupParams
from ops6k.records import Candidate, Match, Outcome, Reason, Verdict, Work, candidate_id

PARAMS = DedupParams()


def copied(task: Subject, disguise: Callable[[str], str]) -> Subject:
    return dataclasses.replace(task, candidate_id=f"{task.candidate_id} copied", code=disguise(task.code))


def subject(name: str, init: str, forward: str, *, depth: int = 3, aten: tuple[str, ...] | None = None) -> Subject:
    return Subject(name, tuple(f"op{i}" for i in range(depth)), framed(init, forward), aten)


def reference(task: Subject) -> Reference:
    form = canonical(task.code)
    return Reference(
        task.candidate_id, 2, "ours", None, form.digest, tuple(form.shingles.tolist()), form.operators, form.flow, task.aten
    )


UNLIKE = reference(subject("unlike", "", "return torch.kthvalue(x, 3).values"))


def reasons(
    tasks: list[Subject], references: list[Reference] | None = None, params: DedupParams = PARAMS
) -> dict[str, Reason | None]:
    return {name: match.reason for name, match in rejections(decide(tasks, references or [UNLIKE], params)).items()}


@pytest.mark.parametrize("disguise", SURE.values(), ids=SURE)
@pytest.mark.parametrize("name", TASKS)
def test_a_disguised_copy_of_a_reference_is_contaminated(name: str, disguise: Callable[[str], str]) -> None:
    references = [reference(task) for task in TASKS.values()]
    matches = decide([copied(TASKS[name], disguise)], references, PARAMS)
    rejecting = [match for match in matches if match.reason]
    assert rejecting
    assert {(match.reference, match.reason) for match in rejecting} == {(name, Reason.BENCHMARK)}


@pytest.mark.parametrize("disguise", SURE.values(), ids=SURE)
@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if len(task.ops) > PARAMS.sized_depth])
def test_a_disguised_copy_inside_the_set_is_a_duplicate_of_the_earlier_one(name: str, disguise: Callable[[str], str]) -> None:
    expected = Reason.EXACT if disguise is SURE["verbatim"] else Reason.NEAR
    assert reasons([*TASKS.values(), copied(TASKS[name], disguise)]) == {f"{name} copied": expected}


def test_tasks_that_are_not_alike_all_stay() -> None:
    assert reasons(list(TASKS.values()), [UNLIKE]) == {}


FRAMES = [
    "return F.{op}(self.fc(x))",
    "x = F.{op}(x)\n        x = self.fc(x)\n        return x.sum(dim=1)",
    "y = self.fc(x)\n        return y * F.{op}(y)",
]


@pytest.mark.parametrize("frame", FRAMES)
def test_one_frame_with_another_operator_is_another_task(frame: str) -> None:
    names = ["relu", "softplus", "gelu", "silu", "mish", "tanh"]
    tasks = [subject(name, "self.fc = nn.Linear(width, 64)", frame.format(op=name)) for name in names]
    assert reasons(tasks) == {}
    assert reasons(tasks[1:], [reference(tasks[0])]) == {}


def test_the_same_operators_in_another_order_are_another_task_also_in_long_models() -> None:
    init = (
        "\n        ".join(f"self.layer{i} = nn.{name}(width, width)" for i, name in enumerate(["Linear"] * 30))
        + "\n        self.p = nn.Softsign()\n        self.q = nn.Softmin(1)"
    )
    layers = "\n        ".join(f"x = self.layer{i}(x)" for i in range(30))
    tasks = [
        subject(name, init, f"{layers}\n        x = {call}\n        return x")
        for name, call in (("pq", "self.q(self.p(x))"), ("qp", "self.p(self.q(x))"))
    ]
    one, other = (canonical(task.code) for task in tasks)
    assert jaccard(one.shingles, other.shingles) > PARAMS.jaccard  # by text alone they would be merged
    assert sorted(one.operators) == sorted(other.operators)
    assert reasons(tasks) == {}


def test_orders_of_three_operators_stay_apart() -> None:
    tasks = [
        subject("".join(order), "", "return " + "".join(f"torch.{op}(" for op in order) + "x" + ")))", depth=3)
        for order in itertools.permutations(["sin", "cumsum", "exp"])
    ]
    tasks = [dataclasses.replace(task, code=task.code.replace("cumsum(x)", "cumsum(x, 0)")) for task in tasks]
    assert reasons(tasks) == {}


def test_equal_aten_operators_are_contaminated_at_depth_one() -> None:
    ours = subject("ours", "self.act = nn.Hardtanh()", "return self.act(x)", depth=1, aten=("hardtanh",))
    theirs = reference(subject("theirs", "", "return torch.clamp(x, -1.0, 1.0)", aten=("hardtanh",)))
    assert reasons([ours], [UNLIKE, theirs]) == {"ours": Reason.BENCHMARK}
    flagging = dataclasses.replace(PARAMS, rules={**PARAMS.rules, "benchmark/graph": "flag"})
    matches = decide([ours], [UNLIKE, theirs], flagging)
    assert [(match.reference, match.score, match.reason) for match in matches if match.channel == "graph"] == [
        ("theirs", 1.0, None)
    ]


def test_two_operators_on_a_weight_are_not_a_benchmark_problem_on_a_second_input() -> None:
    aten = ("mul", "cumsum")
    ours = Subject(
        "ours", ("a", "b"), framed("self.w = nn.Parameter(torch.randn(64))", "return torch.cumsum(x * self.w, dim=-1)"), aten
    )
    masked = framed("", "return torch.cumsum(x * mask, dim=-1)").replace("forward(self, x)", "forward(self, x, mask)")
    theirs = dataclasses.replace(reference(Subject("theirs", ("a", "b"), masked, aten)), arguments=2)
    assert reasons([ours], [theirs]) == {}
    assert reasons([Subject("copy", ("a", "b"), masked.replace("mask", "keep"), aten)], [theirs]) == {"copy": Reason.BENCHMARK}


def test_known_aten_operators_outweigh_the_source() -> None:
    """Both traced and traced apart: equal source dataflow does not reject."""
    code = framed("", "return torch.linalg.vector_norm(x, dim=1)")
    theirs = reference(
        Subject(
            "theirs",
            ("a",),
            code.replace("return torch", "y = torch").replace("dim=1)", "dim=1)\n        return y"),
            ("linalg_vector_norm", "neg"),
        )
    )
    ours = Subject("ours", ("a",), code, ("linalg_vector_norm",))
    graph = [match for match in decide([ours], [theirs], PARAMS) if match.channel == "graph"]
    assert [match.reason for match in graph] == [None]
    assert graph[0].score < 1


def test_a_functional_rewrite_is_found_by_its_source_where_nothing_was_traced() -> None:
    modules = subject(
        "modules", "self.fc = nn.Linear(width, 64)\n        self.act = nn.Mish()", "return self.act(self.fc(x)).cumsum(1)"
    )
    functions = subject(
        "functions",
        "self.w = nn.Parameter(torch.rand(64, width))\n        self.b = nn.Parameter(torch.rand(64))",
        "y = F.linear(x, self.w, self.b)\n        return torch.cumsum(F.mish(y), 1)",
    )
    assert reasons([functions], [reference(modules)]) == {"functions": Reason.BENCHMARK}
    assert reasons([modules, functions]) == {"functions": Reason.NEAR}


PLAIN = framed("self.c = nn.Linear(width, 64); self.b = nn.Parameter(torch.randn(64))", "return torch.erf(self.c(x)) + self.b")
SPELLINGS = {
    "in place": "y = self.c(x); y.erf_(); y += self.b; return y",
    "another layout on the way": "return torch.erf(self.c(x).t().contiguous()).t() + self.b",
    "a copy on the way": "return torch.erf(self.c(x).clone()) + self.b",
    "another type and back": "return torch.erf(self.c(x).double().float()) + self.b",
    "times one": "return torch.erf(self.c(x) * 1.0) + self.b",
    "plus nothing": "return torch.add(torch.erf(self.c(x)), 0) + self.b",
    "a product and a sum for a linear layer": "return torch.erf(x @ self.c.weight.t() + self.c.bias) + self.b",
}


@pytest.fixture(scope="module")
def traced() -> dict[str, Subject]:
    """PLAIN under each spelling, with the operators of its dry run."""
    from ops6k.dedup.trace import aten_operators

    codes = {"plain": PLAIN} | {
        name: PLAIN.replace("return torch.erf(self.c(x)) + self.b", forward) for name, forward in SPELLINGS.items()
    }
    found = aten_operators(list(codes.values()))
    return {name: Subject(name, (), code, aten) for (name, code), aten in zip(codes.items(), found, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_benchmark_problem_in_another_spelling_of_the_same_operators_is_contaminated(
    traced: dict[str, Subject], spelling: str
) -> None:
    assert traced["plain"].aten and traced[spelling].aten
    assert reasons([traced[spelling]], [reference(traced["plain"])]) == {spelling: Reason.BENCHMARK}


def test_a_forward_that_takes_any_number_of_tensors_is_no_way_around_short_problems() -> None:
    problem = subject("problem", "", "return torch.erf(x)", aten=("erf",))
    star = Subject("star", (), problem.code.replace("(self, x)", "(self, *x)").replace("erf(x)", "erf(*x)"), ("erf",))
    assert reasons([star], [reference(problem)]) == {"star": Reason.BENCHMARK}


def test_a_loop_over_time_is_found_at_another_length() -> None:
    init, forward = "self.rnn = nn.GRU(width, 8)", "y, h = self.rnn(x)\n        return torch.erf(y)"
    theirs = reference(subject("theirs", init, forward, aten=("mm", "sigmoid") * 5 + ("erf",)))
    ours = subject("ours", init.replace("rnn", "cell"), "return self.cell(x)[0].erf()", aten=("mm", "sigmoid") * 9 + ("erf",))
    assert reasons([ours], [UNLIKE, theirs]) == {"ours": Reason.BENCHMARK}


def test_a_recurrence_folds_to_the_same_sequence_at_any_length() -> None:
    step = ("mm", "sigmoid", "tanh", "mul")
    short, long = (folded(("mm", *step * steps, "erf")) for steps in (40, 900))
    assert short == long
    assert len(short) < 2 * len(step) + 2
    assert folded(("mish", "mish")) == ("mish", "mish")
    mixed = tuple(np.random.default_rng(0).permutation([f"op{i}" for i in range(300)]))
    assert folded(mixed) == mixed


def test_a_residual_is_not_the_chain_with_the_same_aten_operators() -> None:
    aten = ("sin", "cos", "add")
    tasks = [
        subject("chain", "", "return x.sin().cos() + 1.0", aten=aten),
        subject("residual", "", "y = x.sin()\n        return y.cos() + y", aten=aten),
    ]
    assert reasons(tasks) == {}


def test_a_problem_with_one_more_operator_is_flagged_and_stays() -> None:
    theirs = reference(subject("theirs", "", "return x.sin().cos().exp()", aten=("sin", "cos", "exp")))
    ours = subject("ours", "", "return x.sin().cos().exp().tanh()", aten=("sin", "cos", "exp", "tanh"))
    contains = [match for match in decide([ours], [UNLIKE, theirs], PARAMS) if match.channel == "contains"]
    assert [(match.reference, match.score, match.reason) for match in contains] == [("theirs", 0.75, None)]


def test_other_sizes_are_another_task_up_to_depth_two_and_never_against_a_benchmark() -> None:
    small, large = (subject(str(n), f"self.fc = nn.Linear(width, {n})", "return self.fc(x).erfc()", depth=2) for n in (32, 4096))
    doubled = subject("64", "self.fc = nn.Linear(width, 64)", "return self.fc(x).erfc()", depth=2)
    assert reasons([small, large]) == {}
    assert reasons([small, doubled]) == {"64": Reason.NEAR}
    assert reasons([dataclasses.replace(task, ops=("a", "b", "c")) for task in (small, large)]) == {"4096": Reason.NEAR}
    assert reasons([large], [reference(small)]) == {"4096": Reason.BENCHMARK}


def test_another_class_is_another_attribute_or_a_far_size() -> None:
    assert another_class((3, 64.0), (5, 64.0), 8)
    assert another_class((3, 64.0), (3, 1024.0), 8)
    assert not another_class((3, 64.0), (3, 512.0), 8)
    assert not another_class((3,), (3, 64.0), 8)
    assert another_class((0.1,), (0.2,), 8)


def test_earlier_ones_win_and_copies_of_a_copy_point_at_the_one_that_stays() -> None:
    first = TASKS["gated"]
    second, third = copied(first, SURE["renamed"]), dataclasses.replace(copied(first, SURE["disguised"]), candidate_id="third")
    found = rejections(decide([first, second, third], [UNLIKE], PARAMS))
    assert {name: match.reference for name, match in found.items()} == {"gated copied": "gated", "third": "gated"}


def test_a_contaminated_task_is_not_also_a_duplicate() -> None:
    task = TASKS["chain"]
    matches = decide([task, copied(task, SURE["verbatim"])], [reference(task)], PARAMS)
    assert {match.reason for match in matches if match.reason} == {Reason.BENCHMARK}


def test_clusters_hold_siblings_that_stay_and_duplicates_and_nothing_else() -> None:
    small, large = (subject(str(n), f"self.fc = nn.Linear(width, {n})", "return self.fc(x).erfc()", depth=2) for n in (32, 4096))
    tasks = [TASKS["gated"], small, TASKS["pair"], large, copied(TASKS["gated"], SURE["renamed"])]
    assert compare(tasks, [UNLIKE], PARAMS).clusters == ["gated", "32", "pair", "32", "gated"]


def test_every_accepted_task_names_its_nearest_reference_by_text_and_by_operators() -> None:
    references = [reference(task) for task in TASKS.values()]
    matches = decide([subject("mine", "self.fc = nn.Linear(width, 9)", "return torch.erf(self.fc(x))")], references, PARAMS)
    by_channel = {match.channel: match for match in matches if match.benchmark}
    own = canonical(framed("self.fc = nn.Linear(width, 9)", "return torch.erf(self.fc(x))")).shingles
    scores = {r.name: jaccard(own, np.array(r.shingles, np.uint32)) for r in references}
    assert by_channel["text"].reference == max(scores, key=scores.get)
    assert by_channel["text"].score == pytest.approx(max(scores.values()), abs=1e-4)
    assert by_channel["operators"].reference == "pair"
    assert by_channel["operators"].score == pytest.approx(1 / 3, abs=1e-4)


def test_decisions_do_not_depend_on_the_run() -> None:
    tasks = [*TASKS.values(), *(copied(task, SURE["disguised"]) for task in TASKS.values())]
    assert compare(tasks, [UNLIKE], PARAMS) == compare(tasks, [UNLIKE], PARAMS)


def families(count: int) -> list[np.ndarray]:
    """Sets of about 100 hashes in families whose members differ a little or much."""
    random_ = np.random.default_rng(3)
    sets = []
    for _ in range(count // 20):
        base = random_.integers(0, 2**32, 100, dtype=np.uint32)
        for _ in range(20):
            member = base.copy()
            changed = random_.integers(0, 25)
            member[:changed] = random_.integers(0, 2**32, changed, dtype=np.uint32)
            sets.append(np.unique(member))
    return sets


def test_proposals_by_minhash_and_exact_jaccard_agree_with_brute_force() -> None:
    sets = families(400)
    growing = Growing(0.9, 128, seed=1)
    found = set()
    for number, shingles in enumerate(sets):
        found |= {(number, other, score) for other, score in growing.near(shingles) if score >= 0.9}
        assert growing.add(shingles) == number
    brute = {(i, j, jaccard(sets[i], sets[j])) for i in range(len(sets)) for j in range(i) if jaccard(sets[i], sets[j]) >= 0.9}
    assert len(brute) > 200
    assert found == brute


def test_scores_against_a_fixed_list_agree_with_brute_force() -> None:
    sets = [np.array([], np.uint32), *families(40)]
    exact = Exact(sets)
    for one in sets:
        assert exact.scores(one) == pytest.approx([jaccard(one, other) for other in sets])
    assert exact.scores(np.array([1, 2, 3], np.uint32)).max() == 0
    assert Exact([]).scores(np.array([1], np.uint32)).size == 0


@pytest.mark.parametrize("threshold", [0.0, 1.0])  # what dedup.jaccard may be at most and at least
def test_a_threshold_at_either_end_is_kept_to(threshold: float) -> None:
    growing, one = Growing(threshold, 16, seed=1), np.arange(40, dtype=np.uint32)
    growing.add(one)
    assert growing.near(one) == [(0, 1.0)]
    assert all(score < 1 for _, score in growing.near(one[:-1]))


def test_bands_miss_next_to_none_at_the_threshold() -> None:
    for threshold, rows in ((0.9, 7), (0.7, 3)):
        found = bands(threshold, 128)
        assert found[1] == rows
        assert (1 - threshold**rows) ** found[0] <= 1e-5
        assert found[0] * found[1] <= 128


def test_multisets_count_and_sequences_keep_order() -> None:
    assert multiset(["a", "b", "a"]).size == 3
    assert np.array_equal(multiset(["a", "b"]), multiset(["b", "a"]))
    assert not np.array_equal(pairs_in_order(["a", "b"]), pairs_in_order(["b", "a"]))
    assert pairs_in_order([]).size == 0


def test_components_agree_with_a_flood_fill() -> None:
    pairs = [tuple(random.Random(i).sample(range(60), 2)) for i in range(35)]
    components = Components(60)
    for left, right in pairs:
        components.join(left, right)
    for start in range(60):
        reached = {start}
        for _ in range(60):
            reached |= {b for a, b in [*pairs, *((b, a) for a, b in pairs)] if a in reached}
        assert components.find(start) == min(reached)


def write_build(root: Path, accepted: list[Subject], rejected: list[Subject] = (), derived: list[Subject] = ()) -> None:
    """Candidates and verdicts as fuse and screen leave them."""
    candidates = [Candidate(t.candidate_id, t.ops, t.code, "composer", 0, "float32", ()) for t in (*accepted, *rejected)]
    store.write_rows(root / "data/candidates/candidates.parquet", candidates, Candidate)
    resized = [Candidate(t.candidate_id, t.ops, t.code, "composer", 0, "float32", (), parent="p", round=1) for t in derived]
    store.write_rows(root / "data/verdicts/candidates.parquet", resized, Candidate)
    works = {t.candidate_id: Work(1, 1, 1, 1, 1.0, 1.0, 1.0, 8, t.aten) if t.aten else None for t in (*accepted, *derived)}
    verdicts = [Verdict(name, Outcome.ACCEPTED, None, "", "timing", work) for name, work in works.items()]
    verdicts += [Verdict(t.candidate_id, Outcome.INVALID, Reason.RUNTIME, "", "dry_run") for t in rejected]
    store.write_rows(root / "data/verdicts/verdicts.parquet", verdicts, Verdict)


def write_index(root: Path, tasks: list[Subject]) -> None:
    folder = root / "source"
    for task in tasks:
        (folder / "level2").mkdir(parents=True, exist_ok=True)
        (folder / "level2" / f"{task.candidate_id}.py").write_text(task.code)
    build_index(folder, "ours", folder=root)


def with_index(params: object, root: Path, *indexes: str) -> object:
    return dataclasses.replace(params, root=root, dedup=dataclasses.replace(params.dedup, benchmarks=indexes))


@pytest.fixture
def params() -> object:
    from ops6k.params import load

    return load(Path(__file__).parents[1] / "params.yaml")


def test_the_stage_writes_matches_clusters_and_counts(tmp_path: Path, params: object) -> None:
    copy = copied(TASKS["gated"], SURE["renamed"])
    write_build(tmp_path, [TASKS["gated"], TASKS["chain"], TASKS["pair"]], rejected=[TASKS["attention"]], derived=[copy])
    write_index(tmp_path, [TASKS["chain"], TASKS["attention"]])
    report = dedup.run(with_index(params, tmp_path, "ours.parquet"), tmp_path / "data")
    assert (report.taken, report.kept) == (4, 2)
    assert {line.reason: line.count for line in report.reasons} == {"contaminated/benchmark": 1, "duplicate/near": 1}
    assert report.notes == ("compared with 2 references of ours",)
    rejected = rejections(store.read_rows(tmp_path / "data/matches/matches.parquet", Match))
    assert {name: (m.reference, m.benchmark, m.level) for name, m in rejected.items()} == {
        "chain": ("chain", "ours", 2),
        "gated copied": ("gated", None, None),
    }
    clusters = {c.candidate_id: c.cluster for c in store.read_rows(tmp_path / "data/matches/clusters.parquet", dedup.Cluster)}
    assert clusters == {"gated": "gated", "chain": "chain", "pair": "pair", "gated copied": "gated"}


def test_the_stage_uses_the_aten_operators_of_the_verdict(tmp_path: Path, params: object) -> None:
    one = subject("one", "self.fc = make(width)", "return self.fc(x)", aten=("mm", "erf", "sum"))
    same = subject("same", "self.other = make(width, 3)", "y = self.other(x)\n        return y", aten=("mm", "erf", "sum"))
    write_build(tmp_path, [one, same])
    write_index(tmp_path, [TASKS["chain"]])
    assert dedup.run(with_index(params, tmp_path, "ours.parquet"), tmp_path / "data").kept == 1


@pytest.mark.parametrize("what", ["missing", "empty", "unreadable", "of another form", "none named"])
def test_without_a_usable_index_nothing_passes(
    tmp_path: Path, params: object, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_build(tmp_path, [TASKS["gated"]])
    index = tmp_path / "ours.parquet"
    if what == "empty":
        store.write_rows(index, [], Reference)
    elif what == "unreadable":
        index.write_bytes(b"not parquet")
    elif what == "of another form":
        with monkeypatch.context() as patch:
            patch.setattr("ops6k.dedup.index.scheme", lambda: "0" * 16)
            write_index(tmp_path, [TASKS["chain"]])
    named = () if what == "none named" else ("ours.parquet",)
    with pytest.raises(MissingInput, match=r"benchmark" if what == "none named" else r"ours\.parquet") as error:
        dedup.run(with_index(params, tmp_path, *named), tmp_path / "data")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "data/matches").exists()


def test_a_verdict_without_a_candidate_stops_the_stage(tmp_path: Path, params: object) -> None:
    write_build(tmp_path, [TASKS["gated"]])
    store.write_rows(tmp_path / "data/candidates/candidates.parquet", [], Candidate)
    write_index(tmp_path, [TASKS["chain"]])
    with pytest.raises(MissingInput, match="gated"):
        dedup.run(with_index(params, tmp_path, "ours.parquet"), tmp_path / "data")


def test_no_accepted_task_is_no_error(tmp_path: Path, params: object) -> None:
    write_build(tmp_path, [], rejected=[TASKS["gated"]])
    write_index(tmp_path, [TASKS["chain"]])
    report = dedup.run(with_index(params, tmp_path, "ours.parquet"), tmp_path / "data")
    assert (report.taken, report.kept) == (0, 0)
    assert load_index(tmp_path / "ours.parquet")


def test_ids_of_candidates_are_what_matches_carry() -> None:
    name = candidate_id(("nn.Linear",), TASKS["pair"].code)
    matches = decide([dataclasses.replace(TASKS["pair"], candidate_id=name)], [reference(TASKS["pair"])], PARAMS)
    assert {match.candidate_id for match in matches} == {name}


SOUND = sorted(path for path in (Path(__file__).parent / "tasks").glob("*.py") if path.read_text().startswith("# keep\n"))


def _sound_tasks() -> list[Subject]:
    return [
        Subject(path.stem, tuple(path.read_text().splitlines()[1].removeprefix("# ops: ").split(", ")), path.read_text(), None)
        for path in SOUND
    ]


@pytest.mark.parametrize(
    ("benchmarks", "known"),
    [
        (["kernelbench"], {"sound-triangular": "15_Matmul_for_lower_triangular_matrices"}),
        (
            ["kernelbench", "robust-kbench", "multikernelbench"],
            {"sound-triangular": "15_Matmul_for_lower_triangular_matrices", "sound-grid-sample": "grid_sample_random_warp"},
        ),
    ],
)
def test_sound_tasks_are_merged_neither_with_one_another_nor_with_a_benchmark(
    benchmarks: list[str], known: dict[str, str]
) -> None:
    """By text and source dataflow alone, which merge more than a dry run's operators do.

    Two do compute what a benchmark's problem computes: the lower triangle of a product, and sampling along a random grid.
    """
    tasks = _sound_tasks()
    assert len(tasks) >= 100
    folder = Path(__file__).parents[1] / "data" / "benchmarks"
    references = [one for name in benchmarks for one in load_index(folder / f"{name}.parquet")]
    found = rejections(decide(tasks, references, PARAMS))
    assert {name: match.reference for name, match in found.items()} == known


@pytest.mark.slow
def test_forms_made_on_several_cores_are_those_made_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [task.code for task in TASKS.values()] + ["no python ("]
    monkeypatch.setattr("ops6k.dedup.decide._MANY", 1)
    several = list(canonical_forms(codes))
    assert several[-1] is None
    assert [form and (form.text, form.flow, form.shingles.tolist()) for form in several] == [
        (form := canonical(code)) and (form.text, form.flow, form.shingles.tolist()) for code in codes
    ]
