"""Rounding must not decide an output: what is taken, at which tolerance, and what is not."""

import pytest
import torch

from ops6k.records import Reason
from ops6k.screen import conditioning, eager
from ops6k.screen.bench import Bench, set_up
from ops6k.screen.compare import as_tuple, disagreement
from ops6k.screen.finding import Finding
from ops6k.screen.instances import make_inputs
from ops6k.screen.limits import Limits

FRAME = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64{kind})
        self.norm = nn.LayerNorm(64{kind})

    def forward(self, x):
        return {body}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
BFLOAT16 = ", dtype=torch.bfloat16"


def fitted(body: str, *, kind: str = "", rows: int = 4096) -> tuple[Bench, Finding | None]:
    inputs = f"torch.randn({rows}, 64{kind})"
    bench = set_up(FRAME.format(body=body, kind=kind, inputs=inputs), "cpu", Limits(None, 1e-2, 8, 60), ())
    assert isinstance(bench, Bench), bench
    with torch.no_grad():
        assert eager.runs_cleanly(bench) is None
        return bench, conditioning.fit_tolerance(bench)


@pytest.mark.parametrize(
    "body",
    [
        "torch.relu(self.fc(x)) + self.norm(x)",
        "nn.functional.hardshrink(x, 0.5)",  # a jump, but of a number that every kernel has to the last bit
        "torch.sign(x)",
        "torch.trunc(x.relu() * 0.3)",  # one rounding, the same by IEEE 754
        "torch.acos(torch.clamp(x, -1, 1))",  # moved a little more, it would be no number
        "torch.fft.rfft(self.fc(x), norm='ortho').abs()",
        "torch.exp(self.fc(x)).cumsum(-1)",
        "torch.sort(self.fc(x), dim=-1).values",
    ],
)
def test_what_every_kernel_gets_right_is_taken_at_the_verifiers_tolerance(body: str) -> None:
    bench, finding = fitted(body)
    assert finding is None and bench.tolerance == 1e-2


@pytest.mark.parametrize(
    "body",
    [
        "nn.functional.hardshrink(self.norm(x), 0.5)",
        "torch.trunc(self.fc(x) * 40)",
        "torch.argmax(self.fc(x) * x, dim=-1)",
        "(self.fc(x).sum(-1, keepdim=True) > x)",
        "torch.sign(torch.special.chebyshev_polynomial_t(x.sigmoid(), 5))",
        "x / (self.fc(x) - self.fc(x).mean(-1, keepdim=True))",
        "torch.tan(self.fc(x) * 3000)",
    ],
)
def test_what_rounding_tips_over_in_one_of_many_draws_is_refused(body: str) -> None:
    _, finding = fitted(body, rows=2**15)
    assert finding is not None and finding.reason is Reason.ILL_CONDITIONED


def test_a_bfloat16_task_gets_the_step_of_which_its_own_rounding_takes_half() -> None:
    exact, _ = fitted("torch.relu(x)", kind=BFLOAT16)
    rough, finding = fitted("self.norm(self.fc(self.norm(self.fc(x)))) * 2", kind=BFLOAT16)
    assert exact.tolerance == 1e-2
    assert finding is None and rough.tolerance in (2e-2, 4e-2)
    wide = conditioning._wider(rough)
    with torch.no_grad():
        for seed in range(100, 120):  # draws that the fit has not seen
            inputs = make_inputs(rough.task, "cpu", seed)
            for got, wanted in zip(as_tuple(rough.model(*inputs)), as_tuple(wide(inputs)), strict=True):
                assert not disagreement(got, wanted, rough.tolerance, rough.tolerance).refused


def test_a_task_that_casts_inside_is_fitted_by_rounding_its_results_otherwise() -> None:
    bench, finding = fitted("self.norm(self.fc(x.bfloat16()))", kind=BFLOAT16)
    assert finding is None and bench.tolerance <= 4e-2
    _, finding = fitted("self.norm(self.fc(x.bfloat16())) * 300", kind=BFLOAT16)
    assert finding is not None and finding.reason is Reason.ILL_CONDITIONED
