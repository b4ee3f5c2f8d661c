"""How many operations a computation starts, and how many loops: what decides where each is started from a host."""

import dataclasses
import functools
import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax

import cdl
from cdl._engine.arrays import _platform

from ._problems import loss, problem


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


def counted(name: str, width: int, trees: int) -> dict[str, Any]:
    """The operations and loops of a step, forward and backward, as it is cut on this machine and on an accelerator."""
    asked = problem(name, width, trees)
    ways = {"cpu": _platform.CPU, "batched": dataclasses.replace(_platform.CPU, batched=True)}
    found: dict[str, Any] = {}
    for way, platform in (ways | {"accelerator": _platform.ACCELERATOR}).items():
        with _platform.taken_for(platform):
            forest = cdl.pack(asked.signature, asked.trees)
            step = eqx.filter_jit(eqx.filter_value_and_grad(lambda net, forest: loss(cdl.fold(net, forest)[0])))
            run = functools.partial(_arrays, step, asked.net, forest)
            found[way] = launches(run) | {"chunks": int(forest.facts[3]), "levels": forest.depth}
        jax.clear_caches()
    return found


def _arrays(step: Callable[..., Any], *inputs: Any) -> list[Any]:
    return jax.tree.leaves(eqx.filter(step(*inputs), eqx.is_array))
