"""Runs every measurement, each in a process of its own, and writes the page: `python -m benchmarks [PART ...]`.

A whole run writes `tutorials/benchmarks.md`; one of some parts, or a `--quick` one, prints what it measured.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from ._cores import ALL_CORES
from ._figures import Figures
from ._machine import ALLOCATOR
from ._page import page


ROOT = pathlib.Path(__file__).parent.parent
PROBLEMS = ("binary", "shared", "own", "stacked")
MEMORY = (False, True) if ALLOCATOR else (False,)  # whether a process keeps its memory
PARTS = (
    "race",
    "reverse",
    "launches",
    "memory",
    "packing",
    "compiling",
    "epoch",
    "chain",
    "sequences",
    "machines",
    "growth",
    "scans",
    "signatures",
    "learning",
    "cores",
    "widths",
    "symmetry",
    "systems",
    "metric",
)


def requests(parts: list[str], quick: bool, figures: Figures) -> Iterator[dict[str, Any]]:
    """What is to be measured, in order; later ones may ask what earlier ones found."""
    narrow, wide = widths = (16, 32) if quick else (128, 256)
    trees, rounds = (16, 2) if quick else (256, 7)
    yield {"job": "rates", "rounds": rounds}
    if "race" in parts:
        for width in widths:
            for name in PROBLEMS:
                for kept in MEMORY:
                    slow = width == narrow and not kept
                    given = {"name": name, "width": width, "trees": trees, "rounds": rounds}
                    yield {"job": "race", **given, "slow": slow, "kept": kept}
    if "reverse" in parts:
        for name in PROBLEMS:
            yield {"job": "reverse", "name": name, "width": wide, "trees": trees, "rounds": rounds, "kept": MEMORY[-1]}
    if "launches" in parts:
        for name in PROBLEMS:
            yield {"job": "launches", "name": name, "width": 16, "trees": trees}
    if "memory" in parts:
        store = figures.store("own", wide) if "race" in parts else "pieces"
        for who, way in (("cdl", "cheap"), ("cdl", "all"), ("torch levels", store)):
            yield {"job": "memory", "name": "own", "width": wide, "trees": trees, "who": who, "way": way}
    if "packing" in parts:
        for name in ("binary", "own"):
            yield {"job": "packing", "name": name, "width": narrow, "trees": trees, "rounds": rounds}
    if "compiling" in parts:
        yield {"job": "compiling", "width": narrow, "trees": trees // 4}
    if "epoch" in parts:
        size, files = (16, 24) if quick else (64, 1)
        yield {"job": "epoch", "width": narrow // 4, "size": size, "files": files, "rounds": rounds}
    if "chain" in parts:
        yield {"job": "chain", "length": 1000 if quick else 100_000, "width": narrow // 2, "rounds": rounds}
    if "sequences" in parts:
        size = {"batch": 4, "time": 16, "width": 16} if quick else {"batch": 64, "time": 256, "width": 256}
        for cell in ("gru", "lstm"):
            for kept in MEMORY:
                yield {"job": "sequences", "cell": cell, **size, "rounds": rounds, "kept": kept}
        for cell in ("gru", "lstm"):
            yield {"job": "ragged", "cell": cell, "lists": trees, "width": narrow, "rounds": rounds, "kept": MEMORY[-1]}
    if "machines" in parts:
        size = {"batch": 4, "time": 16, "width": 16} if quick else {"batch": 64, "time": 256, "width": 256}
        for cell in ("gru", "lstm"):
            yield {"job": "machines", "cell": cell, **size, "rounds": rounds}
    if "growth" in parts:
        for name in ("unfold", "refold", "follow", "halves"):
            for kept in MEMORY:
                yield {"job": "growth", "name": name, "width": narrow, "trees": trees, "rounds": rounds, "kept": kept}
    if "scans" in parts:
        lengths = (256, 1024) if quick else (1024, 16384, 131072)
        for name in ("linear recurrence", "max-plus", "max-plus, total", "matrices", "matrices, total"):
            for length in lengths[:2] if name.startswith("matrices") else lengths:
                yield {"job": "scans", "name": name, "length": length, "rounds": rounds}
    if "signatures" in parts:
        yield {"job": "signatures", "width": narrow, "trees": trees, "rounds": rounds}
    if "learning" in parts:
        for name, size in (("mlp", 128), ("conv", 64), ("fold", 64)):
            yield {"job": "learning", "name": name, "size": size // 16 if quick else size, "rounds": rounds}
    if "cores" in parts:
        for width in widths:
            for name in PROBLEMS:
                given = {"name": name, "width": width, "trees": trees, "rounds": rounds}
                yield {"job": "cores", **given, "kept": MEMORY[-1]}
        for name in ("unfold", "refold", "follow"):
            given = {"name": name, "width": narrow, "trees": trees, "rounds": rounds}
            yield {"job": "growth on cores", **given, "kept": MEMORY[-1]}
    if "widths" in parts:
        for name in ("binary", "own"):
            yield {"job": "widths", "name": name, "width": narrow, "trees": trees, "rounds": rounds}
    if "symmetry" in parts:
        for n in (30, 60, 120) if quick else (250, 500, 1000, 2000):
            yield {"job": "solving", "n": n, "rounds": rounds}
        yield {"job": "tied", "n": 30 if quick else 300, "batch": 32, "rounds": rounds}
        yield {"job": "emlp", "sizes": [10] if quick else [10, 30, 60]}
    if "systems" in parts:
        for n in (10, 50) if quick else (100, 1000, 10_000):
            yield {"job": "boxes", "n": n, "steps": 20 if quick else 1000, "rounds": rounds}
    if "metric" in parts:
        yield {"job": "descents", "seeds": 1 if quick else 3, "width": 8, "steps": 30}
        yield {"job": "product", "width": 32 if quick else 256, "rounds": rounds}
    yield {"job": "rates", "rounds": rounds}


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """The result of one measurement in a new process, which keeps its memory where it asks for that."""
    request = dict(request)
    settings = {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_COMPILATION_CACHE": "0"}
    if request.pop("kept", False):
        settings["LD_PRELOAD"] = str(ALLOCATOR)
    if request["job"] in ("cores", "growth on cores"):
        settings |= ALL_CORES
    command = [sys.executable, "-m", "benchmarks._child", json.dumps(request)]
    done = subprocess.run(
        command,
        env=os.environ | settings | {"PYTHONPATH": str(ROOT / "tutorials")},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Time folds against their peers.")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="small trees and two rounds: does it all run?")
    parser.add_argument(
        "--figures", type=pathlib.Path, help="a file to keep what was measured in, as JSON, and to add it to"
    )
    parser.add_argument("--page", type=pathlib.Path, help="where the page goes")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    whole = not options.parts and not options.quick
    into = options.page or (ROOT / "tutorials" / "benchmarks.md" if whole else None)
    kept = options.figures and options.figures.exists()
    figures, began = Figures(json.loads(options.figures.read_text()) if kept else []), time.perf_counter()
    for request in requests(options.parts or list(PARTS), options.quick, figures):
        started = time.perf_counter()
        print(" ".join(str(x) for x in request.values()), end=" … ", flush=True)
        figures.add(request, measure(request))
        print(f"{time.perf_counter() - started:.0f} s", flush=True)
        if options.figures:
            options.figures.write_text(json.dumps(figures.found, indent=1))
    took = time.perf_counter() - began
    if into is not None:
        into.write_text(page(figures))
        print(f"wrote {into.name} after {took / 60:.1f} minutes")
    else:
        print(page(figures))


if __name__ == "__main__":
    main()
