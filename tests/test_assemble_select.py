"""Quotas, the choice of rows and the splits, against numbers worked out by hand."""

import random

import pytest
import synthetic_build as synthetic

from ops6k.assemble.join import Story
from ops6k.assemble.select import cell_of, largest_remainder, require_full, select
from ops6k.assemble.split import SPLITS, require_shares, split
from ops6k.errors import Ops6kError, ParamsError
from ops6k.params import MixParams

DEPTH = {1: 0.05, 2: 0.35, 3: 0.25, 4: 0.2, 5: 0.15}
DTYPE = {"float32": 0.6, "bfloat16": 0.25, "float16": 0.15}
FULL = MixParams(DEPTH, DTYPE, 0.05)


def stories(cells: list[tuple[int, str, bool]]) -> list[Story]:
    """Accepted stories, each alone in its cluster."""
    build = synthetic.plain_build(cells)
    return [Story(c, v, (), c.candidate_id) for c, v in zip(build.candidates, build.verdicts, strict=True)]


def plenty(each: int = 20) -> list[Story]:
    """`each` stories in every cell of the full mix."""
    return stories([(depth, dtype, with_) for depth in DEPTH for dtype in DTYPE for with_ in (False, True) for _ in range(each)])


def counts(chosen: tuple[Story, ...], part: int) -> dict[object, int]:
    found: dict[object, int] = {}
    for story in chosen:
        name = cell_of(story)[part]
        found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        (6000, {1: 300, 2: 2100, 3: 1500, 4: 1200, 5: 900}),
        # 1.6, 11.2, 8.0, 6.4, 4.8: floors sum to 30, the two left go to .8 (depth 5) and .6 (depth 1)
        (32, {1: 2, 2: 11, 3: 8, 4: 6, 5: 5}),
        # 0.15, 1.05, 0.75, 0.6, 0.45: the floor is 1, two left go to .75 and .6
        (3, {1: 0, 2: 1, 3: 1, 4: 1, 5: 0}),
        (0, dict.fromkeys(DEPTH, 0)),
    ],
)
def test_largest_remainder_gives_the_counts_worked_out_by_hand(total: int, expected: dict[int, int]) -> None:
    assert largest_remainder(DEPTH, total) == expected


def test_equal_remainders_go_to_the_first_key() -> None:
    assert largest_remainder({"a": 0.5, "b": 0.5}, 3) == {"a": 2, "b": 1}


def test_what_one_depth_lacks_goes_to_the_others_by_their_shares() -> None:
    # Depth 2 wants 50 and has 10; the other 90 are split 30:20 -> 54:36.
    assert largest_remainder({1: 0.3, 2: 0.5, 3: 0.2}, 100, {1: 100, 2: 10, 3: 100}) == {1: 54, 2: 10, 3: 36}


def test_more_wanted_than_there_is_takes_all_of_it() -> None:
    assert largest_remainder({1: 0.5, 2: 0.5}, 10, {1: 1, 2: 3}) == {1: 1, 2: 3}


def test_a_value_without_share_gets_nothing_however_short_the_others_are() -> None:
    assert largest_remainder({1: 1.0, 2: 0.0}, 10, {1: 4, 2: 100}) == {1: 4, 2: 0}


def test_with_stock_for_everything_every_quota_is_met_exactly() -> None:
    selection = select(plenty(), FULL, 100, seed=0)
    assert counts(selection.stories, 0) == {1: 5, 2: 35, 3: 25, 4: 20, 5: 15}
    assert counts(selection.stories, 1) == {"float32": 60, "bfloat16": 25, "float16": 15}
    assert counts(selection.stories, 2)[True] >= 5
    assert not [quota for quota in selection.quotas if quota.short]


def test_each_depth_has_the_dtype_mix_too() -> None:
    chosen = select(plenty(), FULL, 100, seed=0).stories
    by_cell = {cell: sum(cell_of(s)[:2] == cell for s in chosen) for cell in ((d, t) for d in DEPTH for t in DTYPE)}
    for (depth, dtype), count in by_cell.items():
        assert abs(count - 100 * DEPTH[depth] * DTYPE[dtype]) <= 1, (depth, dtype, count)


def test_dtype_quotas_are_met_across_depths_where_one_depth_cannot_give_its_part() -> None:
    # Depth 1 has float32 only; the 5 bfloat16 must then all come from depth 2.
    pool = stories([(1, "float32", False)] * 10 + [(2, "float32", False)] * 10 + [(2, "bfloat16", False)] * 10)
    mix = MixParams({1: 0.5, 2: 0.5}, {"float32": 0.75, "bfloat16": 0.25}, 0.0)
    chosen = select(pool, mix, 20, seed=0).stories
    assert counts(chosen, 0) == {1: 10, 2: 10}
    assert counts(chosen, 1) == {"float32": 15, "bfloat16": 5}


def test_the_transformers_floor_is_met_even_where_its_operators_stand_last_in_line() -> None:
    # Ninety-nine rows share one transformers operator; five plain rows, each with an operator used less, come first.
    pool = stories([(1, "float32", False)] * 5 + [(1, "float32", True)] * 99)
    mix = MixParams({1: 1.0}, {"float32": 1.0}, 0.8)
    selection = select(pool, mix, 5, seed=0)
    assert counts(selection.stories, 2)[True] == 4
    assert counts(select(pool, MixParams({1: 1.0}, {"float32": 1.0}, 0.0), 5, seed=0).stories, 2) == {False: 5}


def test_a_transformers_floor_out_of_scarce_stock_is_met() -> None:
    pool = stories([(2, "float32", False)] * 95 + [(2, "float32", True)] * 3)
    selection = select(pool, MixParams({2: 1.0}, {"float32": 1.0}, 0.1), 20, seed=0)
    assert counts(selection.stories, 2)[True] >= 2  # 10 % of 20


def test_the_same_seed_chooses_the_same_rows_in_whatever_order_they_come() -> None:
    pool = plenty(6)
    shuffled = random.Random(5).sample(pool, len(pool))
    ids = {s.candidate.candidate_id for s in select(pool, FULL, 60, seed=3).stories}
    assert ids == {s.candidate.candidate_id for s in select(shuffled, FULL, 60, seed=3).stories}
    assert ids != {s.candidate.candidate_id for s in select(pool, FULL, 60, seed=4).stories}


def test_a_rare_operator_is_not_left_behind() -> None:
    common = stories([(1, "float32", False)] * 50)
    rare = stories([(1, "float32", True)])
    mix = MixParams({1: 1.0}, {"float32": 1.0}, 0.0)
    for seed in range(5):
        assert rare[0] in select([*common, *rare], mix, 10, seed).stories


def test_what_the_mix_gives_no_share_is_counted_and_never_chosen() -> None:
    pool = stories([(1, "float32", False)] * 4 + [(1, "float64", False)] * 3 + [(2, "float32", False)] * 2)
    selection = select(pool, MixParams({1: 1.0}, {"float32": 1.0}, 0.0), 10, seed=0)
    assert (len(selection.stories), selection.outside_mix) == (4, 5)


def test_every_short_depth_is_named_with_its_shortfall() -> None:
    pool = stories([(1, "float32", False)] * 2 + [(2, "float32", False)] * 30)
    selection = select(pool, MixParams({1: 0.5, 2: 0.4, 3: 0.1}, {"float32": 1.0}, 0.0), 20, seed=0)
    with pytest.raises(Ops6kError) as caught:
        require_full(selection)
    message = str(caught.value)
    assert "depth 1 wants 10, has 2 (8 short)" in message
    assert "depth 3 wants 2, has 0 (2 short)" in message
    assert "depth 2" not in message and "\n" not in message


def test_short_dtype_and_transformers_quotas_are_named() -> None:
    pool = stories([(1, "float32", False)] * 20)
    selection = select(pool, MixParams({1: 1.0}, {"float32": 0.5, "bfloat16": 0.5}, 0.1), 10, seed=0)
    with pytest.raises(Ops6kError, match=r"dtype bfloat16 wants 5, has 0 .*transformers wants 1, has 0"):
        require_full(selection)


@pytest.mark.parametrize("seed", range(20))
def test_random_clusters_are_never_cut_and_every_row_is_placed_once(seed: int) -> None:
    rng = random.Random(seed)
    rows = [
        Story(s.candidate, s.verdict, (), f"c{rng.randint(0, 40)}")
        for s in stories([(rng.randint(1, 5), "float32", False) for _ in range(90)])
    ]
    parts = split(rows, (0.8, 0.1, 0.1), seed)
    where: dict[str, set[str]] = {}
    for name, part in parts.items():
        for story in part:
            where.setdefault(str(story.cluster), set()).add(name)
    assert all(len(names) == 1 for names in where.values())
    assert sorted(s.candidate.candidate_id for part in parts.values() for s in part) == sorted(
        s.candidate.candidate_id for s in rows
    )


def test_single_tasks_fill_the_split_sizes_exactly_and_share_every_depth() -> None:
    parts = split(stories([(depth, "float32", False) for depth in DEPTH for _ in range(40)]), (0.8, 0.1, 0.1), 0)
    assert [len(parts[name]) for name in SPLITS] == [160, 20, 20]
    assert [sum(s.candidate.depth == depth for s in parts["test"]) for depth in DEPTH] == [4, 4, 4, 4, 4]


def test_a_cluster_larger_than_the_small_splits_goes_to_train() -> None:
    rows = stories([(2, "float32", False)] * 20)
    big = [Story(s.candidate, s.verdict, (), "big") for s in rows[:10]]
    parts = split([*big, *rows[10:]], (0.8, 0.1, 0.1), 0)
    assert set(big) <= set(parts["train"])
    assert [len(parts[name]) for name in SPLITS] == [16, 2, 2]


def test_the_split_does_not_depend_on_the_order_of_rows() -> None:
    rows = plenty(2)
    shuffled = random.Random(1).sample(rows, len(rows))
    one, other = (split(order, (0.8, 0.1, 0.1), 7) for order in (rows, shuffled))
    assert one == other


@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.9, 0.1, 0.1), (1.1, -0.1, 0.0)])
def test_impossible_splits_are_one_clear_line(shares: tuple[float, ...]) -> None:
    with pytest.raises(ParamsError, match=r"assemble\.splits: three shares"):
        require_shares(shares)
