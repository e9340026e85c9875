"""Train, validation and test, such that no cluster of near neighbours stands in two of them."""

from collections.abc import Sequence

from ops6k.assemble.join import Story
from ops6k.assemble.select import draw, largest_remainder
from ops6k.errors import ParamsError

SPLITS = ("train", "validation", "test")


def require_shares(shares: Sequence[float]) -> None:
    """Raises ParamsError unless there are three shares that sum to 1."""
    if len(shares) != len(SPLITS) or min(shares) < 0 or abs(sum(shares) - 1) > 1e-6:
        raise ParamsError(
            f"params.yaml: assemble.splits: three shares (train, validation, test) that sum to 1, not {list(shares)}"
        )


def split(stories: Sequence[Story], shares: Sequence[float], seed: int) -> dict[str, list[Story]]:
    """The stories of each split, sizes by largest remainder; a cluster goes whole to the split that is furthest behind.

    Clusters of several tasks go first, so that single tasks fill the sizes exactly; single tasks go in order of depth, so that every
    split gets its share of each depth. A cluster that fits no split any more goes to the one with the most room: sizes
    are then off by what clusters force.
    """
    groups = _groups(stories, seed)
    targets = largest_remainder(dict(enumerate(shares)), len(stories))
    given = dict.fromkeys(targets, 0)
    parts: dict[str, list[Story]] = {name: [] for name in SPLITS}
    for group in groups:
        progress = (sum(given.values()) + len(group)) / max(len(stories), 1)
        room = {s: targets[s] - given[s] for s in targets}
        fitting = [s for s in targets if room[s] >= len(group)]
        place = max(fitting, key=lambda s: targets[s] * progress - given[s]) if fitting else max(room, key=room.__getitem__)
        given[place] += len(group)
        parts[SPLITS[place]].extend(group)
    return parts


def _groups(stories: Sequence[Story], seed: int) -> list[list[Story]]:
    clusters: dict[str, list[Story]] = {}
    for story in sorted(stories, key=lambda s: s.candidate.candidate_id):
        clusters.setdefault(str(story.cluster), []).append(story)
    order = sorted(clusters, key=lambda name: (len(clusters[name]) == 1, _depth(clusters[name]), draw(seed, name)))
    return [clusters[name] for name in order]


def _depth(group: Sequence[Story]) -> int:
    """Of a single task; larger clusters are taken in drawn order, largest depth or not."""
    return group[0].candidate.depth if len(group) == 1 else 0
