"""The trained agent as files, and back: safetensors weights, JSON for the rest, no pickle.

agent = Agent.from_pretrained("data/agent")
plan = agent.choose(task, sketch)          # a Plan; plan.options go to torch.compile
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ops6k import store
from ops6k.errors import MissingInput, Ops6kError
from ops6k.records import Task
from ops6k.train.encoder import Sizes, new_policy
from ops6k.train.environment import Choices, Decided, Observation
from ops6k.train.features import ATTEMPTS, LIMIT, NAMES, observation
from ops6k.train.plans import ACTIONS as DECISIONS
from ops6k.train.plans import Plan, plan_of, plans_for, schema
from ops6k.train.sketch import Sketch

WEIGHTS, CONFIG, ACTIONS = "model.safetensors", "config.json", "actions.json"
ARCHITECTURE = "MaskableMultiInputActorCriticPolicy"


_SAME = ("pi_features_extractor.", "vf_features_extractor.")
"""Other names of the one encoder, which stable-baselines3 gives it for either head."""


class SchemaMismatch(Ops6kError):
    """The weights were trained for other actions or features than this version of the package has."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What an agent was trained with."""

    ops6k: str
    torch: str
    stable_baselines3: str
    sb3_contrib: str


class Agent:
    """A policy over decisions. Not guaranteed: that its choice is faster; measure, and keep eager where it is not."""

    def __init__(self, policy: object, sizes: Sizes) -> None:
        """policy: as encoder.new_policy(sizes) makes it."""
        self._policy, self._sizes = policy, sizes

    @classmethod
    def from_pretrained(cls, place: str | Path) -> "Agent":
        """The agent in a folder or a repository of the Hub (`org/name`).

        Raises MissingInput for absent or broken files, SchemaMismatch for other actions or features, HubError.
        """
        import safetensors.torch

        folder = _folder(place)
        config, actions = _json(folder / CONFIG), _json(folder / ACTIONS)
        _require_schema(folder, config, actions)
        sizes = _sizes(config, folder / CONFIG)
        policy = new_policy(sizes)
        try:
            policy.load_state_dict(_with_names(safetensors.torch.load_file(folder / WEIGHTS)))
        except (OSError, RuntimeError, safetensors.SafetensorError) as error:
            raise MissingInput(f"{folder / WEIGHTS}: {str(error).splitlines()[0]}") from None
        policy.set_training_mode(False)
        return cls(policy, sizes)

    def save(self, folder: Path) -> None:
        """Write weights, config.json and actions.json into a folder that exists."""
        import safetensors.torch

        weights = {name: value for name, value in self._policy.state_dict().items() if not name.startswith(_SAME)}
        safetensors.torch.save_file(weights, folder / WEIGHTS)
        store.write_json(folder / CONFIG, _config(self._sizes, self.parameters))
        store.write_json(folder / ACTIONS, schema())

    @property
    def parameters(self) -> int:
        """Weights of encoder, policy and value head together."""
        return sum(weight.numel() for weight in self._policy.parameters())

    def act(self, seen: Observation, mask: np.ndarray) -> int:
        """The most likely action that the mask allows. seen: as features.SHAPES; mask: (len(plans.ACTIONS),) bool."""
        action, _ = self._policy.predict(seen, deterministic=True, action_masks=mask)
        return int(action)

    def choose(self, task: Task, sketch: Sketch, count: int = 64) -> Plan:
        """The plan to try first, among the first `count` that apply to the task; nothing is measured."""
        choices = Choices.of([plan.name for plan in plans_for(task, sketch.rewrites, count)])
        decided: Decided = ()
        while decided in choices.below:
            seen = observation(task, sketch, (), 0, decided)
            decided = (*decided, DECISIONS[self.act(seen, choices.mask(decided, set(), may_stop=False))])
        return plan_of(decided)


def _folder(place: str | Path) -> Path:
    if Path(place).is_dir() or not isinstance(place, str) or place.count("/") != 1 or place.startswith((".", "/")):
        return Path(place)
    from ops6k.publish.hub import downloaded

    return downloaded(place, (WEIGHTS, CONFIG, ACTIONS))


def _with_names(weights: dict) -> dict:
    """With the encoder under all its names."""
    encoder = {
        name.removeprefix("features_extractor."): value
        for name, value in weights.items()
        if name.startswith("features_extractor.")
    }
    return weights | {f"{prefix}{name}": value for prefix in _SAME for name, value in encoder.items()}


def _sizes(config: dict, path: Path) -> Sizes:
    given, wanted = config.get("sizes"), dataclasses.asdict(Sizes())
    if not isinstance(given, dict) or given.keys() != wanted.keys():
        raise MissingInput(f"{path}: sizes of the network: must be an object with {', '.join(wanted)}")
    wrong = [
        name for name, value in wanted.items() if not isinstance(given[name], list if isinstance(value, tuple) else type(value))
    ]
    if wrong:
        raise MissingInput(f"{path}: sizes of the network: {wrong[0]} is {given[wrong[0]]!r}")
    return store.from_plain(Sizes, given)


def _config(sizes: Sizes, parameters: int) -> dict:
    return {
        "architecture": ARCHITECTURE,
        "sizes": dataclasses.asdict(sizes),
        "parameters": parameters,
        "observation": {"features": {name: list(of) for name, of in NAMES.items()}, "limit": LIMIT},
        "action_schema": store.fingerprint(schema()),
        "attempts": ATTEMPTS,
        "versions": store.to_plain(_versions()),
    }


def _versions() -> Versions:
    from importlib.metadata import version

    import ops6k

    return Versions(ops6k.__version__, version("torch"), version("stable_baselines3"), version("sb3_contrib"))


def _json(path: Path) -> dict:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingInput(f"{path}: {error.strerror}; `ops6k train` writes it") from None
    except json.JSONDecodeError as error:
        raise MissingInput(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise MissingInput(f"{path}: must hold an object, holds {type(value).__name__}")
    return value


def _require_schema(folder: Path, config: dict, actions: dict) -> None:
    wanted, found = ([_as_one(action) for action in of.get("actions", ())] for of in (schema(), actions))
    if found != wanted:
        names = ({str(action.get("name")) for action in of} for of in (found, wanted))
        what = ", ".join(sorted(set.symmetric_difference(*names))) or "what they mean, or their order"
        raise SchemaMismatch(f"{folder / ACTIONS}: trained for other actions than this version has: {what}")
    if config.get("observation", {}).get("features") != {name: list(of) for name, of in NAMES.items()}:
        raise SchemaMismatch(f"{folder / CONFIG}: trained for other features than this version has")


def _as_one(action: object) -> dict:
    """An action as it is compared: what it says for people may change."""
    return {key: value for key, value in action.items() if key != "does"} if isinstance(action, dict) else {}
