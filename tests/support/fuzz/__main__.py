"""`python -m fuzz --seconds 600 --seed 3`: runs on, prints a program for each failure, and counts at the end.

Each twenty seeds run as for another platform: JAX keeps a program however it was made, until its caches are cleared.
"""

import argparse
import functools
import os
import random
import sys
import time
from collections import Counter
from typing import Any


os.environ["XLA_FLAGS"] = " ".join(
    ["--xla_backend_optimization_level=0 --xla_force_host_platform_device_count=2", os.environ.get("XLA_FLAGS", "")]
)


def main(arguments: list[str]) -> int:
    """Runs until the time is over. Gives 1 where something failed."""
    parser = argparse.ArgumentParser(prog="make fuzz ARGS=…", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long to go on")
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds, which are numbered on")
    parser.add_argument("--shrink", type=float, default=120, help="the most seconds to make a failure smaller")
    parser.add_argument("--same", type=int, default=1, help="how many failures of one kind are printed")
    chosen = parser.parse_args(arguments)

    import jax

    from . import cases, judge
    from .shrink import shrink

    counts: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    refused: Counter[str] = Counter()
    failed: dict[str, list[str]] = {}
    end, seed = time.monotonic() + chosen.seconds, chosen.seed
    while time.monotonic() < end:
        drawn = cases.draw(random.Random(f"case {seed}"))
        name_of = list(judge.PLATFORMS)[seed // 20 % len(judge.PLATFORMS)]
        run = functools.partial(judge.run_for, name_of)
        counts["signatures"] += not drawn[0].lists
        for i, case in enumerate(drawn):
            verdict = run(case)
            name = f"{case.form}, {case.transform}"
            forms.setdefault(name, Counter())[verdict.kind] += 1
            counts["comparisons"] += verdict.kind == "equal"
            counts["trees"] += len(case.trees) + (len(case.lists.elements) if case.lists else 0)
            counts["nodes"] += case.nodes
            if verdict.kind in ("refused", "no case"):
                refused[f"{verdict.kind}: {verdict.why}"] += 1
            if verdict.kind == "failure":
                seen = failed.setdefault(verdict.why, [])
                seen.append(f"seed {seed}, case {i}, for {name_of}")
                if len(seen) <= chosen.same:
                    same = lambda c, run=run, why=verdict.why: run(c) == judge.Verdict("failure", why)
                    small = shrink(case, same, chosen.shrink)
                    _print_failure(f"seed {seed}, case {i}, for {name_of}", run(small), small)
        if seed % 20 == 19:
            jax.clear_caches()
            print(
                f"… seed {seed}: {dict(counts)}, {sum(map(len, failed.values()))} failures", file=sys.stderr, flush=True
            )
        seed += 1

    print(f"\nseeds {chosen.seed} to {seed - 1}: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    for name, found in sorted(forms.items()):
        print(f"  {name}: " + ", ".join(f"{n} {kind}" for kind, n in sorted(found.items())))
    _print_counted("refused by name, or no case", refused)
    _print_counted("failures", {f"{why} ({', '.join(where[:5])})": len(where) for why, where in failed.items()})
    return int(bool(failed))


def _print_failure(where: str, verdict: Any, case: Any) -> None:
    lines = "\n".join(f"# {line}" for line in verdict.detail.splitlines()[-30:])
    print(f"\n{'#' * 100}\n# {where}: {verdict.why}\n{lines}\n\n{case.program}", flush=True)


def _print_counted(title: str, counted: Any) -> None:
    print(f"{title}:" if counted else f"{title}: none")
    for line, n in sorted(counted.items(), key=lambda pair: -pair[1]):
        print(f"  {n} × {line}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
