"""What models write, and the task that is read out of it."""

import ast
import json

import pytest

from ops6k.fuse.llm.answers import proposal, proposals

PROGRAM = '''import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 64


class Model(nn.Module):
    """Squashes."""

    def forward(self, x):
        return F.softsign(x)


def get_inputs():
    return [torch.randn(ROWS, 8)]


def get_init_inputs():
    return []
'''
MODEL, FUNCTIONS = PROGRAM.split("\n\ndef get_inputs", 1)
FUNCTIONS = f"def get_inputs{FUNCTIONS}"
LABELLED = f'# ops: ["F.softsign"]\n{PROGRAM}'
OTHER = PROGRAM.replace("softsign", "silu")

ANSWERS = {
    "one fence": f"```python\n{LABELLED}```",
    "chatty, with closing remarks": f"Sure! Here is the task:\n\n```python\n{LABELLED}```\n\nThis fuses **one** operator. Enjoy!",
    "a fence without a language": f"```\n{LABELLED}```",
    "tildes and a title": f"~~~~py title=task.py\n{LABELLED}~~~~",
    "a fence that was never closed": f"Here:\n```python\n{LABELLED}",
    "indented in a list": "1. The program:\n" + "".join(f"   {line}\n" for line in f"```python\n{LABELLED}```".splitlines()),
    "Windows line ends": f"```python\n{LABELLED}```".replace("\n", "\r\n"),
    "no fence at all": LABELLED,
    "no fence, remarks before and after": f"Here you go.\n\n{LABELLED}\nHope this helps!\nAsk me for more.",
    "thoughts first": f"<think>maybe ```python\nclass Model: pass\n``` no</think>```python\n{LABELLED}```",
    "a correction further down": f"```python\n{OTHER}```\nWait, that is a known one. Corrected:\n```python\n{LABELLED}```",
    "a usage example further down": f"```python\n{LABELLED}```\nUse it so:\n```python\nmodel = Model()\nprint(model(*get_inputs()))\nimport os\n```",
    "split over two fences": f'```python\n# ops: ["F.softsign"]\n{MODEL}\n```\nand the inputs:\n```python\n{FUNCTIONS}```',
    "labels in a JSON fence": f'```json\n{{"ops": ["F.softsign"]}}\n```\n```python\n{PROGRAM}```',
    "labels in prose": f'ops: ["F.softsign"]\n\n```python\n{PROGRAM}```',
    "structured output": json.dumps({"ops": ["F.softsign"], "code": PROGRAM}),
    "structured output, code in a fence": json.dumps({"ops": ["F.softsign"], "code": f"```python\n{PROGRAM}```"}),
    "structured output, one of a list": json.dumps({"tasks": [{"ops": ["F.softsign"], "code": PROGRAM}]}),
    "structured output in a fence": "```json\n" + json.dumps({"ops": ["F.softsign"], "code": PROGRAM}) + "\n```",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_the_task_is_read_however_it_is_wrapped(answer: str) -> None:
    found = proposal(answer)
    assert found is not None
    assert found.ops == ("F.softsign",)
    assert ast.dump(ast.parse(found.code)) == ast.dump(ast.parse(PROGRAM))
    assert found.whole
    assert "ops:" not in found.code
    assert found.code.endswith("\n") and not found.code.endswith("\n\n")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n",
        "I cannot help with that.",
        "```json\n{}\n```",
        "```\nplain words\n```",
        '{"ops": ["F.relu"]}',
        "<think>endless",
        "[1, 2]",
        "null",
    ],
)
def test_an_answer_without_code_is_no_task(answer: str) -> None:
    assert proposal(answer) is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# ops: []\n",
        "# ops: [1, 2]\n",
        '# ops: ["F.relu", ""]\n',
        "# ops: [F.relu]\n",
        '# ops: {"a": 1}\n',
        '# ops: ["F.relu"\n',
    ],
)
def test_labels_that_are_none_are_left_to_the_request(line: str) -> None:
    found = proposal(f"```python\n{line}{PROGRAM}```")
    assert found is not None
    assert found.ops is None


def test_code_that_does_not_parse_is_kept_for_the_screen_to_reject() -> None:
    found = proposal(f"```python\n{PROGRAM.replace('return []', 'return [')}```")
    assert found is not None
    with pytest.raises(SyntaxError):
        ast.parse(found.code)


def test_an_answer_cut_in_the_middle_is_not_whole() -> None:
    found = proposal(f"```python\n{LABELLED[: len(LABELLED) // 2]}")
    assert found is not None
    assert not found.whole


def test_a_variable_named_ops_stays_in_the_program() -> None:
    code = PROGRAM.replace("ROWS = 64", 'ROWS = 64\nops = ["a"]')
    found = proposal(f"```python\n{code}```")
    assert found is not None
    assert 'ops = ["a"]' in found.code


def test_of_several_tasks_each_is_read_with_its_own_labels() -> None:
    second = f'# ops: ["F.silu"]\n{OTHER}'
    fenced = f"Two tasks.\n\n## 1\n```python\n{LABELLED}```\n## 2\n```python\n{second}```\nUse:\n```python\nmodel = Model()\nimport os\n```"
    tree = {"tasks": [{"ops": ["F.softsign"], "code": PROGRAM}, {"ops": ["F.silu"], "code": OTHER}]}
    for answer in (fenced, json.dumps(tree), f"```json\n{json.dumps(tree)}\n```"):
        assert [(one.ops, one.whole) for one in proposals(answer, 2)] == [(("F.softsign",), True), (("F.silu",), True)]
    assert len(proposals(fenced, 5)) == 2
    assert proposals("none today", 2) == proposals('{"tasks": [3, null, {}]}', 2) == []
