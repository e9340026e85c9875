"""What the reward's fork server does once on a CPU, so that every child finds it done."""

from torch._inductor import config

from ops6k.screen import warm


def compile_once() -> None:
    """As the screen's, and 10 of 25 s sooner.

    torch's compiler tries each vector extension that the CPU names on a program of its own, and takes the best. Here it takes the
    best on trust, since what is compiled at once shows whether it works; where it does not, all are tried.
    """
    config.cpp.vec_isa_ok = True
    try:
        warm.compile_once()
    except RuntimeError:  # the compiler's, as all that torch's compiler raises
        config.cpp.vec_isa_ok = None
        warm.compile_once()
