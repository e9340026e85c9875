"""What a run would ask and cost, before anything is asked."""

from ops6k.fuse.llm.client import named_model
from ops6k.fuse.llm.prompts import Briefs
from ops6k.fuse.sources import wanted
from ops6k.params import Params

_CHARS_PER_TOKEN = 4
_SAMPLE = 50


def dry(params: Params) -> str:
    """One rendered prompt and what a full run would cost at most; asks nothing.

    Tokens are estimated at four characters each, which is rough: the model's own tokenizer decides.
    """
    llm, briefs = params.fuse.llm, Briefs(params)
    tasks, per = params.fuse.candidates, llm.tasks_per_request
    starts = range(0, tasks, max(per, tasks // _SAMPLE))
    prompts = [
        briefs.together([briefs.brief(wanted(params.mix, params.seed, i)) for i in range(start, min(start + per, tasks))])
        for start in starts
    ]
    each = sum(len(prompt.system) + len(prompt.user) for prompt in prompts) / len(prompts) / _CHARS_PER_TOKEN
    first = -(-tasks // per)
    most = first + tasks * (llm.repair + llm.resize)
    requests = min(most, llm.max_requests)
    prompt_tokens, completion_tokens = requests * each, min(requests, first) * per * llm.max_output_tokens
    completion_tokens += max(0, requests - first) * llm.max_output_tokens
    more = " and ".join(f"as many {name}" for name, asked in (("repairs", llm.repair), ("resizes", llm.resize)) if asked)
    repairs = f" for {tasks:,} tasks{', at most ' * bool(more)}{more}"
    return "\n".join(
        (
            "--- system",
            prompts[0].system,
            "--- user",
            prompts[0].user,
            "--- cost",
            f"{requests:,} requests{repairs} (budget {llm.max_requests:,}), {llm.concurrency} at a time, more where answers are cut or the endpoint fails",
            f"about {prompt_tokens:,.0f} prompt tokens ({each:,.0f} each, at {_CHARS_PER_TOKEN} characters a token)",
            f"at most {completion_tokens:,} completion tokens ({llm.max_output_tokens:,} a task){_budget('tokens', llm.max_tokens)}",
            _usd(params, prompt_tokens, completion_tokens),
        )
    )


def _usd(params: Params, prompt_tokens: float, completion_tokens: float) -> str:
    llm, model = params.fuse.llm, named_model(params.fuse.llm)
    if model is None:
        return "USD unknown: no model is named; set fuse.llm.model in params.yaml or OPS6K_MODEL"
    price = llm.prices.get(model)
    if price is None:
        return f"USD unknown: fuse.llm.prices has no price of {model!r}"
    usd = (prompt_tokens * price.input + completion_tokens * price.output) / 1e6 * (llm.batch_price if llm.batch else 1)
    return f"at most about {usd:,.2f} USD{' in batches' if llm.batch else ''}{_budget('USD', llm.max_usd)}"


def _budget(unit: str, most: float | None) -> str:
    return f" (budget {most:,} {unit})" if most is not None else ""
