"""Rows of a data set on the Hugging Face Hub: the only part of dedup that may use the network."""

from collections.abc import Iterable, Iterator, Mapping

from ops6k.errors import HubError


def rows(hub_id: str) -> Iterator[dict]:
    """The rows of every split of a data set; raises HubError where it cannot be loaded."""
    for split in splits(hub_id).values():
        yield from split


def splits(hub_id: str) -> Mapping[str, Iterable[dict]]:
    """The rows of a data set by split; raises HubError where it cannot be loaded."""
    from datasets import load_dataset
    from datasets.exceptions import DatasetsError

    try:
        return load_dataset(hub_id)
    except (DatasetsError, OSError, ValueError) as error:
        raise HubError(f"{hub_id}: cannot be loaded from the Hub ({' '.join(str(error).split())[:200]})") from None
