"""How much memory a training step takes: the highest it rises above what the process held before."""

import ctypes
import gc
import pathlib
from typing import Any

from ._contestants import Cdl, torch, TorchLevels
from ._machine import cores
from ._problems import problem


def memory(name: str, width: int, trees: int, who: str, way: str) -> dict[str, Any]:
    """Megabytes, for `cdl` with a way of `remat`, or for `torch levels` with a store."""
    given = problem(name, width, trees)
    if who == "cdl":
        fold = Cdl(given, way)
        fold.compile("both")
        step: Any = fold.both
    elif torch is None:
        return {"megabytes": None}
    else:
        torch.set_num_threads(cores())
        step = TorchLevels(given, way).both
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # what the compiler freed is given back, and not used by the step again
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _megabytes("VmRSS")
    step()
    return {"megabytes": _megabytes("VmHWM") - before}


def _megabytes(field: str) -> float:
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split(field + ":")[1].split()[0]) / 1024
