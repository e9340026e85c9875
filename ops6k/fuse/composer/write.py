"""A graph as the source of a task, in one of many hands: names, spelling of imports, comments and structure vary.

What varies is drawn once as a Hand, so that one module is written in one style throughout.
"""

import builtins
import keyword
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ops6k.fuse.composer.graph import PLACEHOLDER, Graph, Member, Step, names_in
from ops6k.fuse.composer.inputs import families
from ops6k.fuse.composer.layout import laid_out
from ops6k.fuse.composer.precision import with_dtype
from ops6k.labels import key

_VALUE_NAMES = {
    "rows": ("x", "features", "inputs", "feats", "a", "batch"),
    "seq": ("x", "tokens", "hidden_states", "seq", "inputs", "h"),
    "signal": ("x", "signal", "wave", "inputs", "series"),
    "image": ("x", "image", "img", "feature_map", "inputs", "fmap"),
    "volume": ("x", "volume", "voxels", "inputs", "vol"),
    "heads": ("q", "query", "x", "states", "heads_in"),
    "matrix": ("a", "mat", "x", "blocks"),
    "vec": ("x", "values", "v"),
}
_LATER_NAMES = ("y", "other", "context", "aux", "b", "target", "memory", "ref", "k", "second", "extra", "guide")
_KIND_NAMES = {
    "index": ("idx", "indices", "ids", "index"),
    "mask": ("mask", "keep", "flags"),
    "sign": ("sign", "labels", "target"),
    "bit": ("labels", "target", "bits"),
}
_STEP_NAMES = (
    ("h", "y", "z", "u", "out"),
    ("out", "out2", "out3", "res", "tmp"),
    ("y", "y1", "y2", "y3", "t"),
    ("mid", "mixed", "scored", "result", "last"),
    ("h1", "h2", "h3", "h4", "h5"),
)
_RESERVED = {"torch", "nn", "F", "math", "Model", "self", "get_inputs", "get_init_inputs", *keyword.kwlist, *dir(builtins)}


@dataclass(frozen=True, slots=True)
class Hand:
    """One person's way of writing."""

    rng: random.Random
    imports: str
    typed: bool
    docstring: bool
    comments: bool
    reassigns: bool
    """Keeps one name for the running value where nothing else needs the old one."""
    old_super: bool
    inputs_first: bool
    """get_inputs stands before get_init_inputs."""
    named_inputs: bool
    keeps_sizes: bool
    """Stores sizes on self even where forward could read them off a shape."""

    @classmethod
    def draw(cls, rng: random.Random) -> "Hand":
        imports = rng.choice(
            (
                "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F",
                "import torch\nfrom torch import nn\nfrom torch.nn import functional as F",
            )
        )
        chances = (0.35, 0.55, 0.3, 0.5, 0.15, 0.7, 0.5, 0.5)
        return cls(rng, imports, *(rng.random() < chance for chance in chances))


class Writer:
    """Writes one graph. What its hand leaves to chance is drawn once: two codes differ in the sizes given alone."""

    def __init__(self, graph: Graph, dtype: str, seed: str) -> None:
        self.graph, self.dtype = graph, dtype
        self.hand = Hand.draw(random.Random(seed))
        self.taken = set(_RESERVED) | set(graph.definitions)
        self.constants = self._constants()
        self.init_names = {name: self._free(constant.lower()) for name, constant in self.constants.items()}
        self.members = self._members()
        self.arguments = {given.value.name: self._free(*self._argument_names(i)) for i, given in enumerate(graph.inputs)}
        self.body = self._model()
        self.functions = self._functions()

    def code(self, sizes: Mapping[str, int]) -> str:
        """The source with these sizes; only numbers differ between two calls."""
        constants = "\n".join(f"{self.constants[size.name]} = {sizes[size.name]}" for size in self.graph.sizes)
        parts = [self._head(), constants, *self._definitions(), self.body, *self.functions]
        return "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"

    def _free(self, *wishes: str) -> str:
        """The first wish that is not taken, else one with a number."""
        name = next((wish for wish in wishes if wish not in self.taken), None)
        count = 2
        while name is None:
            name = None if f"{wishes[0]}{count}" in self.taken else f"{wishes[0]}{count}"
            count += 1
        self.taken.add(name)
        return name

    def _constants(self) -> dict[str, str]:
        found = {}
        for size in self.graph.sizes:
            names = list(families()[size.letter].names)
            self.hand.rng.shuffle(names)
            found[size.name] = self._free(*names, *(f"{name}_OUT" for name in names))
        return found

    def _members(self) -> dict[str, str]:
        found = {}
        for member in self.graph.members:
            hint = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", member.hint).lower()
            shorter = {
                "proj": ("proj", "fc", "linear", "dense"),
                "conv": ("conv", "filter", "mix"),
                "norm": ("norm", "ln", "normalize"),
            }
            wishes = list(shorter.get(hint, (hint,)))
            self.hand.rng.shuffle(wishes)
            found[member.name] = self._free(*wishes, *(f"{wishes[0]}{i}" for i in range(2, 9)))
        return found

    def _argument_names(self, i: int) -> tuple[str, ...]:
        given = self.graph.inputs[i]
        names = _KIND_NAMES.get(given.values, _VALUE_NAMES.get(given.value.kind, ("x",)) if i == 0 else _LATER_NAMES)
        wishes = list(names)
        self.hand.rng.shuffle(wishes)
        return (*wishes, *_LATER_NAMES) if given.values not in _KIND_NAMES else tuple(wishes)

    def _head(self) -> str:
        text = self.body + "".join(self.graph.definitions.values())
        lines = [line for line in self.hand.imports.split("\n") if not line.endswith(" F") or re.search(r"\bF\.", text)]
        return "\n".join(["import math\n", *lines] if re.search(r"\bmath\.", text) else lines)

    def _definitions(self) -> list[str]:
        sources = [source.strip() for source in self.graph.definitions.values()]
        return sources if self.dtype == "float32" else [with_dtype(source, self.dtype) for source in sources]

    def _init_sizes(self) -> list[str]:
        """Sizes that the constructor needs: those that members or forward name."""
        texts = [text for member in self.graph.members for text in (member.build, *member.settle)]
        return names_in([*texts, *(step.text for step in self.graph.steps)], "s")

    def _model(self) -> str:
        hand = self.hand
        lines = ["class Model(nn.Module):"]
        if hand.docstring:
            lines += [f'    """{self._summary()}"""', ""]
        init = self._init()
        lines += [*init, ""] if init else []
        return "\n".join([*lines, *self._forward()])

    def _summary(self) -> str:
        words = [_words(step.op) for step in self.graph.steps if step.op]
        listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
        opening = self.hand.rng.choice(("", "A block of ", "Fused ", "Applies ", "Small module: "))
        text = f"{opening}{listed}."
        return text[0].upper() + text[1:]

    def _init(self) -> list[str]:
        sizes = self._init_sizes()
        if not self.graph.members and not sizes:
            return []
        kept = names_in([step.text for step in self.graph.steps], "s")
        annotation = ": int" if self.hand.typed else ""
        signature = ", ".join(["self", *(self.init_names[name] + annotation for name in sizes)])
        lines = [f"    def __init__({signature}){' -> None' if self.hand.typed else ''}:"]
        lines.append("        super(Model, self).__init__()" if self.hand.old_super else "        super().__init__()")
        lines += [f"        self.{self._free_attribute(name)} = {self.init_names[name]}" for name in kept]
        for member in self.graph.members:
            lines += self._member(member)
        return lines

    def _free_attribute(self, size: str) -> str:
        return self.init_names[size]

    def _member(self, member: Member) -> list[str]:
        def named(match: re.Match) -> str:
            return self.init_names[match.group()] if match.group(1) == "s" else f"self.{self.members[match.group()]}"

        build = member.build if self.dtype == "float32" else with_dtype(member.build, self.dtype)
        lines = [f"        self.{self.members[member.name]} = {PLACEHOLDER.sub(named, build)}"]
        if member.settle and self.hand.comments:
            lines.append(
                f"        # {self.hand.rng.choice(('weights as after some training', 'spread the weights so that they matter', 'not the default start'))}"
            )
        return lines + [f"        {PLACEHOLDER.sub(named, text)}" for text in member.settle]

    def _forward(self) -> list[str]:
        arguments = list(self.arguments.values())
        kind = ": torch.Tensor" if self.hand.typed else ""
        several = len(self.graph.outputs) > 1
        result = "" if not self.hand.typed else f" -> {'tuple[torch.Tensor, ...]' if several else 'torch.Tensor'}"
        lines = [f"    def forward({', '.join(['self', *(name + kind for name in arguments)])}){result}:"]
        names: dict[str, str] = dict(self.arguments)
        pool = list(self.hand.rng.choice(_STEP_NAMES))
        steps = self.graph.steps
        for i, step in enumerate(steps):
            text = self._text(step.text, names)
            if i == len(steps) - 1 and self.graph.outputs == [step.value.name] and self.hand.rng.random() < 0.5:
                return [*lines, f"        return {text}"]
            names[step.value.name] = self._step_name(i, names, pool)
            lines.append(f"        {names[step.value.name]} = {text}{self._remark(step)}")
        return [*lines, f"        return {', '.join(names[name] for name in self.graph.outputs)}"]

    def _text(self, text: str, names: Mapping[str, str]) -> str:
        def named(match: re.Match) -> str:
            found, prefix = match.group(), match.group(1)
            return names[found] if prefix == "v" else f"self.{self.members[found] if prefix == 'm' else self.init_names[found]}"

        return PLACEHOLDER.sub(named, text)

    def _step_name(self, i: int, names: Mapping[str, str], pool: list[str]) -> str:
        """The name of step i's value: that of what it replaces if nothing later reads it, else a fresh one."""
        step = self.graph.steps[i]
        later = {read for other in self.graph.steps[i + 1 :] for read in other.reads} | set(self.graph.outputs)
        first = step.reads[0]
        if self.hand.reassigns and first not in later and sum(name == names[first] for name in names.values()) == 1:
            return names[first]
        held = set(names.values()) | self.taken
        found = next((name for name in pool if name not in held), None)
        return found or next(f"{pool[0]}{n}" for n in range(2, 99) if f"{pool[0]}{n}" not in held)

    def _remark(self, step: Step) -> str:
        if not self.hand.comments or self.hand.rng.random() < 0.6 or not step.op:
            return ""
        return f"  # {_words(step.op)}"

    def _functions(self) -> list[str]:
        functions = [self._get_inputs(), self._get_init_inputs()]
        return functions if self.hand.inputs_first else functions[::-1]

    def _get_inputs(self) -> str:
        def named(text: str) -> str:
            return PLACEHOLDER.sub(lambda match: self.constants[match.group()], text)

        drawn = [named(laid_out(given, self.dtype, self.hand.rng)) for given in self.graph.inputs]
        if self.hand.named_inputs:
            names = list(self.arguments.values())
            lines = [f"    {name} = {text}" for name, text in zip(names, drawn, strict=True)]
            return "\n".join(["def get_inputs():", *lines, f"    return [{', '.join(names)}]"])
        return f"def get_inputs():\n    return [{', '.join(drawn)}]"

    def _get_init_inputs(self) -> str:
        return f"def get_init_inputs():\n    return [{', '.join(self.constants[name] for name in self._init_sizes())}]"


def _words(label: str) -> str:
    name = label.rpartition(".")[2]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).replace("_", " ")
    return spaced.lower()


def labels_of(graph: Graph) -> tuple[str, ...]:
    """Labels of a task in order of use, each operator once."""
    found: dict[str, str] = {}
    for op in graph.ops():
        found.setdefault(key(op), op)
    return tuple(found.values())


def real_sizes(graph: Graph) -> dict[str, int]:
    return {size.name: size.real for size in graph.sizes}
