"""A genuine model server: `transformers serve` with a language model of 60,000 random weights, made on the spot."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_SPECIAL = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]


def make(folder: Path) -> Path:
    """A Llama of two layers with a token a byte; seeded, so that it always babbles the same. In a process of its own: the harvest's
    tests forbid this one to build models."""
    done = subprocess.run([sys.executable, __file__, str(folder)], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def _make(folder: Path) -> None:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_ = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_.decoder = decoders.ByteLevel()
    bytes_.add_special_tokens(_SPECIAL)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytes_, eos_token="<|end|>", pad_token="<|end|>")
    tokenizer.chat_template = _TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=48,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=32768,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.eos_token_id,
        )
    )
    model.generation_config = GenerationConfig(
        do_sample=True, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.eos_token_id
    )
    model.save_pretrained(folder)


@contextmanager
def serving(model: Path, log: Path) -> Iterator[str]:
    """The address of a server of this model, /v1 included; it is stopped with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model), "--device", "cpu", "--port", str(port)]
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(log.parent / "hf"), "OMP_NUM_THREADS": "1"}
    with log.open("wb") as lines:
        server = subprocess.Popen(command, stdout=lines, stderr=subprocess.STDOUT, env=os.environ | quiet, start_new_session=True)
    try:
        _wait(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)


def _wait(address: str, server: subprocess.Popen, log: Path, most_s: float = 120) -> None:
    ends = time.monotonic() + most_s
    while time.monotonic() < ends:
        assert server.poll() is None, f"the server ended: {log.read_text(errors='replace')[-2000:]}"
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.3)
        else:
            return
    raise TimeoutError(f"no answer within {most_s:g} s: {log.read_text(errors='replace')[-2000:]}")


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
