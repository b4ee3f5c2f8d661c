"""The tables of lists, machines, growth, symmetry, metrics and systems, each from what one run measured."""

from typing import Any

from ._figures import Figures, median, ms, per_cent, ratio, table
from ._sections import KINDS, memory_of


def chains(figures: Figures) -> str:
    found = figures.one(job="chain")
    rows: list[tuple[str, ...]] = []
    for kind, label in KINDS.items():
        seconds = " / ".join(f"{found['compile'][who][kind]:.1f}" for who in ("cdl", "scan"))
        fold, scan = (found[kind][who]["median"] for who in ("cdl", "scan"))
        rows.append((f"{found['length']:,} deep, width {found['width']}", label, ms(fold), ms(scan)))
        rows[-1] += (f"**{fold / scan:.2f} ×**", seconds)
    return table(["chain", "pass", "`fold`, ms", "`lax.scan`, ms", "ratio", "compiled in, s"], rows)


SEQUENCES = {
    "fold": "`annotate`",
    "fold, plain": "the same, `bulk=False`",
    "scan": "`lax.scan` by hand",
    "torch": "PyTorch",
    "flax": "flax",
}


def sequences(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="sequences"):
        floors = [found["operations"] * n / figures.peak / 1e6 for n in (1, 2.5)]
        for who, label in SEQUENCES.items():
            times = [found[kind].get(who) for kind in KINDS]
            row = (request["cell"].upper(), memory_of(request), label)
            if times[0] is None:
                rows.append((*row, "not installed", "", "", ""))
                continue
            shares = [per_cent(floor / t["median"]) for floor, t in zip(floors, times, strict=True)]
            ratios = f"{times[1]['median'] / found['both']['fold']['median']:.2f} ×"
            rows.append((*row, *(ms(t["median"]) for t in times), ratios, " / ".join(shares)))
    head = ["cell", "memory", "program", "forward, ms", "forward + backward, ms", "to `annotate`", "share of the peak"]
    return table(head, rows)


def ragged(figures: Figures) -> str:
    labels = {"padded": "`Seq`", "packed": "`Packed`", "torch": "PyTorch, `PackedSequence`"}
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="ragged"):
        for who, label in labels.items():
            if who not in found["both"]:
                rows.append((request["cell"].upper(), label, "", "not installed", "", ""))
                continue
            shape = "" if who == "torch" else "×".join(map(str, found["shape"][who]))
            fill = "" if who == "torch" else per_cent(found["fill"][who])
            times = [ms(found[kind][who]["median"]) for kind in KINDS]
            rows.append((request["cell"].upper(), label, shape, *times, fill))
    return table(["cell", "program", "lanes × steps", "forward, ms", "forward + backward, ms", "fill"], rows)


def machines(figures: Figures) -> str:
    labels = {"run": "`run`", "scan": "`lax.scan` by hand"}
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="machines"):
        for who, label in labels.items():
            times = [ms(found[kind][who]["median"]) for kind in KINDS]
            rows.append((request["cell"].upper(), label, *times, ratio(found["both"], who, "run")))
    return table(["cell", "program", *(f"{k}, ms" for k in KINDS.values()), "to `run`"], rows)


def streams(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="machines"):
        for width, times in found["streams"].items():
            each = [f"{1e3 * times[who]['median'] / found['steps']:.1f}" for who in ("step", "jitted")]
            rows.append((request["cell"].upper(), width, *each, ratio(times, "step", "jitted")))
    return table(["cell", "width", "`step`, µs", "the cell, µs", "ratio"], rows)


GROWING = {"unfold": "`unfold`", "refold": "`refold`, chosen", "follow": "`follow`", "halves": "`refold`, halves"}


def growth(figures: Figures) -> str:
    peers = {
        "unfold": ("torch", "torch, told", "ana"),
        "refold": ("torch", "torch, told"),
        "follow": ("torch, told",),
        "halves": ("by hand",),
    }
    names = {
        "torch": "PyTorch, by levels as it grows",
        "torch, told": "PyTorch, told the levels beforehand",
        "ana": "`ana`",
        "by hand": "JAX, by hand",
    }
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="growth"):
        problem = request["name"]
        what = GROWING[problem], f"{found['nodes']:,}", memory_of(request)
        rows.append((*what, "cdl", *(ms(found[kind]["cdl"]["median"]) for kind in KINDS), "", ""))
        for who in peers[problem]:
            times = [median(found[kind], who) for kind in KINDS]
            shown = ["not installed" if who.startswith("torch") else "" if t is None else ms(t) for t in times]
            shown = [ms(t) if t is not None else s for t, s in zip(times, shown, strict=True)]
            ratios = [ratio(found[kind], who) if who in found[kind] else "" for kind in KINDS]
            rows.append((*what, names[who], *shown, *ratios))
    times = [f"{k}, ms" for k in KINDS.values()]
    return table(["problem", "nodes", "memory", "program", *times, "to cdl, forward", "to cdl, with backward"], rows)


def growth_on_cores(figures: Figures) -> str:
    contestants = "cdl", "cores", "torch", "torch, told"
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="growth on cores"):
        for kind, label in KINDS.items():
            times = ["" if t is None else ms(t) for t in (median(found[kind], who) for who in contestants)]
            ratios = [
                ratio(found[kind], who, "cores") if who in found[kind] else "" for who in contestants if who != "cores"
            ]
            rows.append((GROWING[request["name"]], label, *times, *ratios))
    times = ["one device, ms", "a device for each core, ms", "PyTorch as it grows, ms", "PyTorch, told, ms"]
    return table(["problem", "pass", *times, "one device to all", "PyTorch as it grows to all", "told to all"], rows)


def scans(figures: Figures) -> str:
    ways = ("scan", "associative", "chunked", "halving")
    rows = []
    for request, found in figures.all(job="scans"):
        times = [
            " / ".join(ms(found[kind][way]["median"]) for kind in KINDS) if way in found["both"] else "" for way in ways
        ]
        cost = f"{found['operations']:,}" if "operations" in found else ""
        rows.append((request["name"], cost, f"{request['length']:,}", *times))
    return table(["monoid", "operations", "length", *(f"{way}, ms" for way in ways)], rows)


def learning(figures: Figures) -> str:
    labels = {"mlp": "three dense layers", "conv": "two convolutions", "fold": "a Tree-LSTM, by `fold`"}
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="learning"):
        ours, theirs = (found["both"][who]["median"] / 10 for who in ("optics", "by hand"))
        took = [found["compile"][who] for who in ("optics", "by hand")]
        row = (labels[request["name"]], request["size"], f"{ours:.2f}", f"{theirs:.2f}", f"**{ours / theirs:.2f} ×**")
        rows.append((*row, " / ".join(f"{t:.2f}" for t in took), f"{took[0] / took[1]:.2f} ×"))
    head = ["model", "batch", "optics, ms", "by hand, ms", "ratio", "traced and compiled in, s", "ratio"]
    return table(head, rows)


def solving(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="solving"):
        n = request["n"]
        best = [found[name]["best"] for name in ("C_n", "S_n", "signed shift")]
        each = " / ".join(f"{1e6 * t / n**2:.0f}" for t in best)
        rows.append((f"{n:,}", f"{n**2:,}", *map(ms, best), each))
    return table(["n", "weights", "`C_n`, ms", "`S_n`, ms", "signed shift, ms", "ns for a weight"], rows)


def emlp(figures: Figures) -> str:
    found = figures.one(job="emlp")
    if not found["installed"]:
        return "EMLP could not be installed here."
    times = table(["n", "EMLP, `C_n`, ms"], [(n, ms(t)) for n, t in found["times"].items()])
    nans = table(["generator", "NaN in EMLP's basis"], [(name, per_cent(x)) for name, x in found["nans"].items()])
    return f"{times}\n\n{nans}"


def tied(figures: Figures) -> str:
    labels = {
        "tied": "`Equivariant`",
        "convolution": "`Convolution`, the same matrix",
        "dense": "`eqx.nn.Linear`",
        "projected": "projected, `Q Qᵀ w`",
    }
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="tied"):
        for action, of in found.items():
            for who, label in labels.items():
                if who in of["both"]:
                    times = [ms(of[kind][who]["median"]) for kind in KINDS]
                    ratios = [ratio(of[kind], who, "tied") for kind in KINDS]
                    rows.append((action, request["n"], label, *times, *ratios))
    times = [f"{k}, ms" for k in KINDS.values()]
    return table(["action", "n", "layer", *times, "to `Equivariant`, forward", "with backward"], rows)


def boxes(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="boxes"):
        times = [f"{ms(found[kind]['system']['median'])} ({ratio(found[kind], 'system', 'scan')})" for kind in KINDS]
        took = " / ".join(f"{found['compile']['system'][kind]:.2f}" for kind in KINDS)
        rows.append((f"{request['n']:,}", f"{1e3 * found['built']:.0f}", took, *times))
    return table(["boxes", "built in, ms", "compiled in, s", *(f"{k}, ms" for k in KINDS.values())], rows)


def descents(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    request, found = next(iter(figures.all(job="descents")))
    at = [n for n in (1, 10, request["steps"]) if n <= request["steps"]]
    labels = {
        "CG": "`natural`, ten products, trust region",
        "Levenberg–Marquardt": "`natural`, thirty products, Levenberg–Marquardt",
        "K-FAC": "`natural`, K-FAC, trust region",
        "kfac-jax": "kfac-jax",
        "Adam": "Adam",
    }
    for name, label in labels.items():
        if runs := found[name]:
            losses = [f"{sum(run['losses'][n] for run in runs) / len(runs):.2g}" for n in at]
            rows.append((label, *losses, f"{min(run['ms'] for run in runs):.2f}"))
        else:
            rows.append((label, *["not installed"] * len(at), ""))
    times = figures.one(job="product")["times"]
    words = f"A product with the Fisher metric takes {ratio(times, 'product', 'gradient')} the time of a gradient."
    return table(["optimiser", *(f"after {n}" for n in at), "a step, ms"], rows) + f"\n\n{words}"
