"""How many operations a computation starts, and how many loops: what decides where each is started from a host."""

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax


def launches(run: Callable[[], Any]) -> dict[str, int]:
    """The operations of XLA that one call executes, of a program that is compiled already, and the loops among them.

    Counted on a CPU, where each operation is in the profile.
    """
    jax.block_until_ready(run())
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.block_until_ready(run())
        (path,) = Path(folder).rglob("*.trace.json.gz")
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    names = [e["name"] for e in events if e.get("ph") == "X" and "hlo_op" in e.get("args", {})]
    loops = sum(name.startswith("while") for name in names)
    return {"operations": len(names) - loops, "loops": loops}
