"""The trained agent as files, and back: safetensors weights, JSON for the rest, no pickle.

agent = Agent.from_pretrained("data/agent")
plan = agent.choose(task)          # a Plan; plan.options go to torch.compile
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ops6k import store
from ops6k.errors import MissingInput, Ops6kError
from ops6k.records import Task
from ops6k.train.features import ATTEMPTS, LIMIT, NAMES, observation
from ops6k.train.plans import PLANS, Plan, applicable, schema

WEIGHTS, CONFIG, ACTIONS = "model.safetensors", "config.json", "actions.json"


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
    """A policy over plans. Not guaranteed: that its choice is faster; measure, and keep eager where it is not."""

    def __init__(self, policy: object) -> None:
        """policy: an sb3-contrib MaskableActorCriticPolicy over features.NAMES and plans.PLANS."""
        self._policy = policy

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> "Agent":
        """The agent in a folder; raises MissingInput for absent files, SchemaMismatch for other actions or features."""
        import safetensors.torch

        folder = Path(folder)
        config, actions = _json(folder / CONFIG), _json(folder / ACTIONS)
        _require_schema(folder, config, actions)
        policy = _new_policy(config["layers"])
        try:
            weights = safetensors.torch.load_file(folder / WEIGHTS)
        except (OSError, safetensors.SafetensorError) as error:
            raise MissingInput(f"{folder / WEIGHTS}: {error}") from None
        policy.load_state_dict(weights)
        policy.set_training_mode(False)
        return cls(policy)

    def save(self, folder: Path, layers: tuple[int, ...]) -> None:
        """Write weights, config.json and actions.json into a folder that exists."""
        import safetensors.torch

        # clone: safetensors refuses tensors that share memory
        safetensors.torch.save_file({name: value.clone() for name, value in self._policy.state_dict().items()}, folder / WEIGHTS)
        store.write_json(folder / CONFIG, _config(layers, self.parameters))
        store.write_json(folder / ACTIONS, schema())

    @property
    def parameters(self) -> int:
        """Weights of policy and value head together."""
        return sum(weight.numel() for weight in self._policy.parameters())

    def act(self, seen: np.ndarray, mask: np.ndarray) -> int:
        """The most likely action that the mask allows. seen: (len(features.NAMES),) float32; mask: (actions,) bool."""
        action, _ = self._policy.predict(seen, deterministic=True, action_masks=mask)
        return int(action)

    def choose(self, task: Task) -> Plan:
        """The plan to try first for a task, among those that its row says apply; nothing is measured."""
        names = {plan.name for plan in applicable(task)}
        mask = np.array([plan.name in names for plan in PLANS] + [False])
        return PLANS[self.act(observation(task, (), 0), mask)]


def _new_policy(layers: list[int]) -> object:
    import gymnasium
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

    seen = gymnasium.spaces.Box(-LIMIT, LIMIT, (len(NAMES),), np.float32)
    return MaskableActorCriticPolicy(seen, gymnasium.spaces.Discrete(len(PLANS) + 1), lambda _: 0.0, net_arch=layers)


def _config(layers: tuple[int, ...], parameters: int) -> dict:
    return {
        "architecture": "MaskableActorCriticPolicy",
        "layers": list(layers),
        "parameters": parameters,
        "observation": {"features": list(NAMES), "limit": LIMIT},
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
    wanted = {action["name"]: action.get("definition") for action in schema()["actions"]}
    found = {action.get("name"): action.get("definition") for action in actions.get("actions", ())}
    if list(found.items()) != list(wanted.items()):
        other = sorted(name for name in wanted | found if wanted.get(name) != found.get(name)) or ["their order"]
        raise SchemaMismatch(f"{folder / ACTIONS}: trained for other actions than this version has: {', '.join(map(str, other))}")
    if config.get("observation", {}).get("features") != list(NAMES):
        raise SchemaMismatch(f"{folder / CONFIG}: trained for other features than this version has")
