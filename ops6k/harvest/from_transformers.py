"""The harvest of transformers: every distinct module class of its modelling files, tried in a worker."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from ops6k.harvest.class_sources import SourceClass, is_stack, modelling_files, operators
from ops6k.harvest.lines import Harvest, skipped
from ops6k.harvest.pool import Answer, Work, answers
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
MODULES_A_BATCH = 4
STACK = "a stack of layers, not an operator"
PARSING_TIMEOUT_S = 120.0
FILES_A_BATCH = 24


def harvest_transformers(timeout_s: float, *, only: frozenset[str] = frozenset()) -> Harvest:
    """The operators of transformers; `only` restricts it to some labels. Raises WorkerError where a worker cannot run."""
    labelled, parts, whole = operators(_classes())
    chosen = {label: found for label, found in labelled.items() if not only or label in only}
    entries = {f"{found.module}:{found.name}": label for label, found in chosen.items() if not is_stack(found.name)}
    work = Work("ops6k.harvest.transformers_operators:harvested", IMPORTS, timeout_s)
    with track("harvest", len(entries)) as tracker:
        found = []
        for answer in answers(work, _by_module(entries)):
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


def _classes() -> Iterable[SourceClass]:
    files = modelling_files()
    batches = [tuple(files[start : start + FILES_A_BATCH]) for start in range(0, len(files), FILES_A_BATCH)]
    work = Work("ops6k.harvest.class_sources:classes_of", (), PARSING_TIMEOUT_S)
    for answer in answers(work, batches):
        for row in answer.value or ():
            yield SourceClass(**{**row, "bases": tuple(row["bases"])})


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
