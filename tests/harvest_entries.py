"""Entries for harvest workers that misbehave on request: real functions, run in real children."""

import os
import sys
import time


def behave(entry: str) -> dict:
    """What the entry asks for: hang, spin, die, exit, interrupt, print, connect, or an answer."""
    if entry == "hang":
        time.sleep(600)
    if entry == "spin":
        while True:
            pass
    if entry == "die":
        os.abort()
    if entry == "exit":
        sys.exit(7)
    if entry == "interrupt":
        raise KeyboardInterrupt("pressed\nby nobody")
    if entry == "print":
        print('["forged", {}, ""]')
    if entry == "connect":
        return {"entry": _connected()}
    return {"entry": entry}


def _connected() -> str:
    import socket

    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    except OSError as error:
        return str(error)
    return "connected"
