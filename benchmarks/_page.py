"""The page: its sections in order, each from what was measured."""

import math
import statistics
from collections.abc import Callable
from typing import Any

from ._aims import aims
from ._figures import Figures, per_cent, table
from ._other_sections import (
    boxes,
    chains,
    descents,
    emlp,
    growth,
    growth_on_cores,
    learning,
    machines,
    ragged,
    scans,
    sequences,
    solving,
    streams,
    tied,
)
from ._sections import (
    against,
    compiling,
    cores,
    epochs,
    floors,
    launches,
    memory,
    memory_of,
    packing,
    remat,
    reverse,
    signatures,
    slower,
    stores,
    widths,
)
from ._words import (
    AIMS,
    CHAIN,
    CLOSING,
    COMPILING,
    CORES,
    EMLP,
    EPOCH,
    GROWTH,
    GROWTH_ON_CORES,
    LAUNCHES,
    LEARNING,
    MACHINES,
    MEMORY,
    NATURAL,
    PACKING,
    RAGGED,
    SCANS,
    SEQUENCES,
    SIGNATURES,
    SOLVING,
    STREAM,
    SYSTEMS,
    TIED,
    WIDTHS,
)


def page(figures: Figures) -> str:
    """The page of one run, with the sections that were measured."""
    sections = (write(figures) for needs, write in SECTIONS if all(map(figures.has, needs)))
    return "\n".join([_opening(figures), *sections, CLOSING])


def _opening(figures: Figures) -> str:
    every = figures.all(job="rates")
    rates = every[0][1]
    versions = ", ".join(f"{name} {version}" for name, version in rates["versions"].items())
    products = table(
        ["product", *(f"GFLOP/s, {i + 1}" for i in range(len(every)))],
        [(shape, *(f"{r['products'][shape]:.0f}" for _, r in every)) for shape in rates["products"]],
    )
    return f"""\
# How fast is `fold`?

{_verdict(figures)}
![Bars of the speed of fold against PyTorch, by problem and width, with a line where both are as
fast](images/benchmarks.svg)

The peer is a program in eager PyTorch, written by hand for these trees, level by level. Bars are means over new
and kept memory. The tables below have each measurement, and compare both with what the machine can do. This page is
written by `make bench`, and the picture by `make front`; all rows of a table are of one run.

## The machine

{rates["cores"]} cores ({rates["processor"]}); {versions}.
The floor below everything here is the rate at which this machine multiplies matrices of single precision, measured as
each run began and as it ended; other machines share its memory and its clock, and it shows:

{products}

The best, **{figures.peak:.0f} GFLOP/s**, is called its peak from here on. Memory that is read and written in one pass
moves at {figures.bandwidth:.1f} GB/s. Times are medians of seven rounds in milliseconds; in each round every
contestant of a row runs once, so that what else the machine does falls on all alike.
{_spread(figures)}"""


DEPENDS = """\
The ratio depends on the machine, and on its memory. The narrower the state, the better for `fold`: [an epoch of the
first network](#an-epoch-of-the-first-network) is of width 32."""


def _verdict(figures: Figures) -> str:
    races = [race for _, race in figures.all(job="race")]
    said = []
    for kind, words in (("forward", "Forward alone"), ("both", "With the gradient")):
        ratios = [t["torch levels"]["median"] / t["cdl"]["median"] for r in races if "torch levels" in (t := r[kind])]
        if ratios:
            said.append(
                f"{words}, `fold` runs at {statistics.median(ratios):.2f} times the speed of PyTorch, in the median of "
                f"{len(ratios)} measurements that go from {min(ratios):.2f} to {max(ratios):.2f}."
            )
    return "\n".join([*said, *_at_best(figures), DEPENDS]) + "\n"


def _at_best(figures: Figures) -> list[str]:
    """The ratios where each contestant has the memory, new or kept, in which it is faster."""
    found: dict[str, list[float]] = {}
    for kind in ("forward", "both"):
        best: dict[Any, dict[str, float]] = {}
        for request, race in figures.all(job="race"):
            own = best.setdefault((request["name"], request["width"]), {})
            for who, t in race[kind].items():
                own[who] = min(t["median"], own.get(who, math.inf))
        found[kind] = [own["torch levels"] / own["cdl"] for own in best.values() if "torch levels" in own]
    if not all(found.values()):
        return []
    forward, both = (statistics.median(ratios) for ratios in found.values())
    return [
        f"Where each has the memory in which it is faster, new or kept, the medians are {forward:.2f} and {both:.2f}, "
        f"of {len(found['both'])} problems and widths."
    ]


def _spread(figures: Figures) -> str:
    spreads = [
        (t["high"] - t["low"]) / t["median"]
        for _, race in figures.all(job="race")
        for kind in ("forward", "both")
        for t in race[kind].values()
        if t["rounds"] > 2
    ]
    if not spreads:
        return ""
    middle = sorted(spreads)[len(spreads) // 2]
    return f"""\
The middle half of a contestant's times is as wide as {per_cent(middle)} of their median, in the middle of all contests;
in the worst, {per_cent(max(spreads))}.
"""


def _against(figures: Figures) -> str:
    kinds = figures.one(job="race", name="own")["kinds"]
    width = figures.all(job="race")[0][0]["width"]
    return f"""\
## Against PyTorch, level by level

The problems are three. **Binary trees**: {_problem(figures, "binary")}, uniformly random among those of 20
to 60 leaves, read by the binary Tree-LSTM; each leaf has a vector of the width of the state, and the gradient is that
of the weights and of these vectors. **Python**: {_problem(figures, "own")}, functions of the standard library,
in a signature that is made from the classes of `ast`, with all children in one `Many`; {kinds} constructors are met.
The child-sum Tree-LSTM reads them. Either each constructor has its own weights, or all share one set but for a
vector each.

The peer is the best we know how to write by hand: the nodes of one height at once, exactly as many rows as there are
nodes; with weights for each constructor, one product for each constructor and height; `index_add` from edges to
nodes; all indices made beforehand. It is a program for these trees and no others, and nothing of it is compiled. All
values and all gradients are equal to those of `fold` to 10⁻⁴ before the clock starts. *Memory* is new where the
process has the allocator of Linux, which gives big arrays back to the system after each call: `fold` then pays a page
fault for each 4 kB of its tables. It is kept where the process has tcmalloc: [two lines](performance.md#on-a-cpu).

{against(figures)}

A ratio is PyTorch's time over that of `fold`: above 1, `fold` is faster.

A program by levels has to keep the states until the nodes above need them. How it keeps them changes the time. We tried
three ways: to join each level's states to all before, to write them into one array, or to cut them in pieces, one for
each level that needs them. The peer above uses the fastest. Forward + backward, the better of two runs:

{stores(figures)}

Others are further away. *By recursion* is `cata` itself, without `jit`, on a few trees and scaled up to all (and
without the gradient of the leaves' vectors); *unrolled* is the peer's program in JAX, jitted, which is compiled anew
for each forest. Width {width}, memory new:

{slower(figures)}
"""


def _problem(figures: Figures, name: str) -> str:
    race = figures.one(job="race", name=name)
    return f"{race['trees']} trees of {race['nodes']:,} nodes in {race['levels']} levels"


def _floor(figures: Figures) -> str:
    return f"""\
## Against the peak of the machine

A Tree-LSTM is matrix products and little else that is counted, so its floor is their operations over the machine's
peak: those of the true rows and edges forward, and three times as many with the gradient. The share is the floor over
the time that was measured, of `fold` and of PyTorch by levels. Forward / forward + backward:

{floors(figures)}

The fill is the share of the rows computed that are nodes: the rest fills up chunks. It is not counted as work.
"""


def _reverse(figures: Figures) -> str:
    request = figures.all(job="reverse")[0][0]
    return f"""\
## Where the time of the reverse pass goes

From the schedule we know how many products of which shape a step makes, with the rows that only fill up a chunk. At
the peak they would take the time under *at the peak*; timed alone, each shape many times over in one program, they take
that under *alone*. What a pass takes beyond that is the rest: states gathered and written, gates and their
derivatives, sums over edges, weights copied to and from their stacks, and the loops themselves. Memory is
{memory_of(request)}, and the width {request["width"]}.

{reverse(figures)}

What the forward pass keeps for the reverse one is `Levels(remat=…)`. `"cheap"`, the default, keeps products and what
they are computed from, `"all"` nothing but the states. The whole step in milliseconds, and what it took to compile it:

{remat(figures)}
"""


Section = Callable[[Figures], str]


def _under(words: str, table: Section) -> Section:
    """A section that is some words and a table."""
    return lambda figures: f"{words}\n{table(figures)}\n"


SECTIONS: list[tuple[tuple[str, ...], Section]] = [  # what has to have been measured for each, in the order of the page
    (("race",), _against),
    (("race",), _floor),
    (("reverse",), _reverse),
    (("launches",), _under(LAUNCHES, launches)),
    (("memory",), _under(MEMORY, memory)),
    (("compiling",), _under(COMPILING, compiling)),
    (("packing",), _under(PACKING, packing)),
    (("epoch",), _under(EPOCH, epochs)),
    (("chain",), _under(CHAIN, chains)),
    (("sequences",), _under(SEQUENCES, sequences)),
    (("ragged",), _under(RAGGED, ragged)),
    (("machines",), _under(MACHINES, machines)),
    (("machines",), _under(STREAM, streams)),
    (("growth",), _under(GROWTH, growth)),
    (("scans",), _under(SCANS, scans)),
    (("widths",), _under(WIDTHS, widths)),
    (("signatures",), _under(SIGNATURES, signatures)),
    (("learning",), _under(LEARNING, learning)),
    (("cores",), _under(CORES, cores)),
    (("growth on cores",), _under(GROWTH_ON_CORES, growth_on_cores)),
    (("solving",), _under(SOLVING, solving)),
    (("emlp",), _under(EMLP, emlp)),
    (("tied",), _under(TIED, tied)),
    (("boxes",), _under(SYSTEMS, boxes)),
    (("descents", "product"), _under(NATURAL, descents)),
    (
        ("race", "cores", "growth", "growth on cores", "chain", "launches", "signatures", "packing", "machines"),
        _under(AIMS, aims),
    ),
]
