"""No example in a prompt is a problem of a benchmark: models copy what they are shown."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ops6k import params as parameters
from ops6k.dedup.decide import Subject, decide, rejections
from ops6k.dedup.examples import compared_with
from ops6k.dedup.index import Reference, build_index, load_index
from ops6k.dedup.trace import aten_operators

ROOT = Path(__file__).parent.parent
INDEX = ROOT / "data" / "benchmarks" / "kernelbench.parquet"
EXAMPLES = [
    code
    for prompt in sorted((ROOT / "prompts").glob("*.j2"))
    for code in re.findall(r"^```python\n(.*?)^```", prompt.read_text(encoding="utf-8"), re.S | re.M)
    if "{{" not in code  # a place for a candidate's code
]
RENAMED = [
    re.sub(r"\b(mix|gated|rows|mixed|series|weight)\b", r"some_\1", re.sub(r'""".*?"""', '"""Other."""', code))
    for code in EXAMPLES
]
PARAMS = parameters.load(ROOT / "params.yaml").dedup


def copies(codes: Sequence[str], references: list[Reference], aten: Sequence[tuple[str, ...] | None]) -> set[str]:
    """Which of the codes the dedup stage would reject, as strings of their places; one at a time, as sets do not matter here."""
    subjects = [Subject(str(i), (), code, operators) for i, (code, operators) in enumerate(zip(codes, aten, strict=True))]
    return {name for subject in subjects for name in rejections(decide([subject], references, PARAMS))}


@pytest.mark.slow
def test_no_example_of_a_prompt_is_a_benchmark_problem() -> None:
    aten = aten_operators(EXAMPLES, workers=1)
    assert all(aten), "an example does not run"
    assert not copies(EXAMPLES, load_index(INDEX), aten)


def test_an_example_that_stands_renamed_in_a_benchmark_would_be_found(tmp_path: Path) -> None:
    folder = tmp_path / "problems" / "level1"
    folder.mkdir(parents=True)
    for number, code in enumerate(RENAMED, 1):
        (folder / f"{number}_problem.py").write_text(re.sub(r"= (\d{2,})$", r"= 4\1", code, flags=re.M), encoding="utf-8")
    references = load_index(build_index(tmp_path / "problems", "planted", folder=tmp_path))
    assert len(references) == len(EXAMPLES) == 2
    unknown = [None] * len(EXAMPLES)
    assert copies(EXAMPLES, references, unknown) == {"0", "1"}
    elsewhere = [replace(reference, canonical="", flow=None, operators=(), shingles=()) for reference in references]
    assert not copies(EXAMPLES, elsewhere, unknown)


def test_a_task_that_copies_an_example_of_a_prompt_is_rejected_and_no_other_has_one_for_its_nearest() -> None:
    references = compared_with(parameters.load(ROOT / "params.yaml"))
    assert sum(reference.benchmark == "prompts" for reference in references) == len(EXAMPLES)
    other = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return torch.kthvalue(x.cumsum(0), 3)[0]\n"
    subjects = [Subject(str(i), (), code, None) for i, code in enumerate([*RENAMED, other])]
    matches = decide(subjects, references, PARAMS)
    found = rejections(matches)
    assert {name: match.benchmark for name, match in found.items()} == {str(i): "prompts" for i in range(len(RENAMED))}
    assert not [match for match in matches if match.candidate_id == str(len(RENAMED)) and match.benchmark == "prompts"]
