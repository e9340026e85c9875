"""The harvest of transformers: every distinct module class of its modelling files, tried in a worker."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ops6k.errors import WorkerError
from ops6k.harvest.class_sources import SourceClass, is_stack, modelling_files, modular_files, operators
from ops6k.harvest.lines import Harvest, skipped
from ops6k.harvest.pool import Answer, Pool
from ops6k.harvest.transformers_operators import NOT_IMPORTED
from ops6k.progress import track
from ops6k.records import Operator
from ops6k.store import from_plain

# What most modelling files import in turn: a worker does so once.
IMPORTS = (
    "torch",
    "torch._dynamo",
    "transformers.modeling_utils",
    "transformers.models.auto.modeling_auto",
    "transformers.models.llama.modeling_llama",
    "transformers.models.clip.modeling_clip",
)
MODULES_A_BATCH = 8
STACK = "a stack of layers, not an operator"
PARSING_TIMEOUT_S = 120.0
FILES_A_BATCH = 24


def harvest_transformers(timeout_s: float, *, only: frozenset[str] = frozenset()) -> Harvest:
    """The operators of transformers; `only` restricts it to some labels. Raises WorkerError where a worker cannot run."""
    with Pool(IMPORTS) as pool:
        labelled, parts, whole = operators(_classes(pool), _citations(pool))
        chosen = {label: found for label, found in labelled.items() if not only or label in only}
        entries = {f"{found.module}:{found.name}": label for label, found in chosen.items() if not is_stack(found.name)}
        found = []
        with track("harvest", len(entries)) as tracker:
            for answer in pool.answers(
                "ops6k.harvest.transformers_operators:harvested", _by_module(entries), timeout_s=timeout_s
            ):
                found.append(answer)
                tracker.advance(note="transformers")
    tried = [_named(answer, entries[answer.entry], chosen) for answer in found if answer.value]
    usable = tuple(operator for operator in tried if operator.usable)
    notes = (
        f"transformers {_version(tried)}: {len(usable)} usable of {len(chosen)} distinct bodies; {parts} module classes, "
        f"identical bodies once each; {whole} whole models are no operators",
    )
    stacks = [
        skipped(label, "transformers", _version(tried), item.module, kind="module", reason=STACK)
        for label, item in chosen.items()
        if is_stack(item.name)
    ]
    return Harvest("transformers", usable, (*_left_out(tried, found, entries), *stacks), notes)


def _classes(pool: Pool) -> list[SourceClass]:
    return [SourceClass(**{**row, "bases": tuple(row["bases"])}) for row in _read(pool, "classes_of", modelling_files())]


def _citations(pool: Pool) -> set[tuple[str, str]]:
    return {(family, name) for family, name in _read(pool, "citations_of", [*modelling_files(), *modular_files()])}


def _read(pool: Pool, function: str, files: list[str]) -> Iterator:
    """What a function of class_sources finds in every file; raises WorkerError where it cannot read one."""
    batches = [tuple(files[start : start + FILES_A_BATCH]) for start in range(0, len(files), FILES_A_BATCH)]
    for answer in pool.answers(f"ops6k.harvest.class_sources:{function}", batches, timeout_s=PARSING_TIMEOUT_S):
        if answer.failure:
            raise WorkerError(f"harvest: {answer.entry} of transformers cannot be read: {answer.failure}")
        yield from answer.value


def _named(answer: Answer, label: str, chosen: dict[str, SourceClass]) -> Operator:
    return replace(from_plain(Operator, answer.value), name=label, source_hash=chosen[label].source_hash)


def _by_module(entries: Iterable[str]) -> list[tuple[str, ...]]:
    """A few modules a batch, each module in one: a child imports it once."""
    modules: dict[str, list[str]] = defaultdict(list)
    for entry in sorted(entries):
        modules[entry.partition(":")[0]].append(entry)
    names = sorted(modules)
    groups = [names[start : start + MODULES_A_BATCH] for start in range(0, len(names), MODULES_A_BATCH)]
    return [tuple(entry for name in group for entry in modules[name]) for group in groups]


def _left_out(tried: list[Operator], found: list[Answer], entries: dict[str, str]) -> list[Operator]:
    """Unusable operators, unanswered entries, and one line for each file that does not import."""
    version = _version(tried)
    broken = {operator.module: operator.note for operator in tried if operator.note.startswith(NOT_IMPORTED)}
    items = [operator for operator in tried if not operator.usable and operator.module not in broken]
    items += [skipped(module, "transformers", version, module, kind="file", reason=reason) for module, reason in broken.items()]
    for answer in found:
        if answer.failure:
            module = answer.entry.partition(":")[0]
            items.append(skipped(entries[answer.entry], "transformers", version, module, kind="module", reason=answer.failure))
    return items


def _version(tried: list[Operator]) -> str:
    return tried[0].version if tried else ""
