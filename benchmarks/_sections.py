"""The tables of the page, each from what one run measured."""

from typing import Any

from ._figures import Figures, median, ms, per_cent, ratio, table


LABELS = {
    "binary": "binary trees",
    "shared": "Python, one set",
    "own": "Python, one for each",
    "stacked": "Python, one for each, stacked",
}
KINDS = {"forward": "forward", "both": "forward + backward"}


def _pages(request: dict[str, Any]) -> str:
    return "huge" if request.get("huge") else "small"


def against(figures: Figures) -> str:
    rows = []
    for request, race in figures.all(job="race"):
        for kind, label in KINDS.items():
            other = median(race[kind], "torch levels")
            shown = "not installed" if other is None else ms(other)
            row = [LABELS[request["name"]], request["width"], _pages(request), label]
            row += [ms(race[kind]["cdl"]["median"]), shown]
            rows.append([*row, "" if other is None else f"**{ratio(race[kind], 'torch levels')}**"])
    return table(["problem", "width", "pages", "", "`fold`, ms", "PyTorch, ms", "ratio"], rows)


def stores(figures: Figures) -> str:
    rows = [
        (LABELS[q["name"]], q["width"], _pages(q), *(ms(r["stores"][way]["both"]) for way in r["stores"]))
        for q, r in figures.all(job="race")
        if r["stores"]
    ]
    return table(["problem", "width", "pages", "joined, ms", "one array, ms", "pieces, ms"], rows)


def slower(figures: Figures) -> str:
    names = {
        "cdl": "`fold`",
        "jax unrolled": "JAX, unrolled",
        "torch levels": "PyTorch, by levels",
        "torch nodes": "PyTorch, node by node",
        "jax recursion": "JAX, by recursion",
    }
    rows: list[tuple[str, ...]] = []
    for request, race in figures.all(job="race", slow=True):
        for name, label in names.items():
            if name not in race["both"]:
                rows.append((LABELS[request["name"]], label, "not installed", "", "", ""))
                continue
            seconds = race["compile"].get(name)
            compiled = "" if seconds is None else f"{seconds['forward']:.1f} / {seconds['both']:.1f}"
            times = [f"{ms(race[kind][name]['median'])} ({ratio(race[kind], name)})" for kind in KINDS]
            rows.append((LABELS[request["name"]], label, *times, compiled))
    return table(["problem", "", "forward, ms", "forward + backward, ms", "compiled in, s"], rows)


def floors(figures: Figures) -> str:
    rows = []
    for request, race in figures.all(job="race"):
        peers = [t for t in ("torch levels",) if t in race["both"]]
        shares = [
            per_cent(figures.floor(race, kind) / race[kind][who]["median"]) for who in ("cdl", *peers) for kind in KINDS
        ]
        shown = [" / ".join(shares[i : i + 2]) for i in range(0, len(shares), 2)]
        floor = " / ".join(ms(figures.floor(race, kind)) for kind in KINDS)
        row = [LABELS[request["name"]], request["width"], _pages(request), f"{race['operations'] / 1e9:.2f}", floor]
        rows.append([*row, shown[0], shown[1] if peers else "not installed", per_cent(race["fill"])])
    head = ["problem", "width", "pages", "GFLOP, forward", "floor, ms", "share, `fold`", "share, PyTorch", "fill"]
    return table(head, rows)


def reverse(figures: Figures) -> str:
    rows: list[tuple[str, ...]] = []
    for request, found in figures.all(job="reverse"):
        times, executed, alone = found["times"], found["executed"], found["alone"]
        forward = times["forward"]["median"]
        backward = times["cheap"]["median"] - forward
        for label, parts, took in (
            ("forward", ["forward"], forward),
            ("reverse", ["cotangents", "parameters"], backward),
        ):
            peak = sum(executed[p] for p in parts) / figures.peak / 1e6
            dots = sum(alone[p] for p in parts)
            shares = per_cent(peak / took), per_cent(dots / took), per_cent(max(0.0, 1 - dots / took))
            rows.append((LABELS[request["name"]], label, ms(peak), ms(dots), ms(took), *shares))
    head = ["problem", "pass", "at the peak, ms", "alone, ms", "measured, ms"]
    return table([*head, "share at the peak", "share alone", "rest"], rows)


def remat(figures: Figures) -> str:
    rows: list[tuple[str, ...]] = []
    for request, found in figures.all(job="reverse"):
        ways = ("cheap", "all")
        rows.append(
            (LABELS[request["name"]], *(ms(found["times"][w]["median"]) for w in ways), *_compiled(found, ways))
        )
    head = ["problem", '`"cheap"`, ms', '`"all"`, ms', '`"cheap"`, s', '`"all"`, s']
    return table(head, rows)


def _compiled(found: dict[str, Any], ways: tuple[str, ...]) -> list[str]:
    return [f"{found['compile'][w]['both']:.1f}" for w in ways]


def launches(figures: Figures) -> str:
    ways = {"cpu": "as here", "batched": "the same, products batched", "accelerator": "as on a GPU or a TPU"}
    whats = "levels", "chunks", "operations", "loops"
    rows = [
        (LABELS[request["name"]], label, *(f"{found[way][what]:,}" for what in whats))
        for request, found in figures.all(job="launches")
        for way, label in ways.items()
    ]
    return table(["problem", "cut", *whats], rows)


def memory(figures: Figures) -> str:
    rows = []
    for request, found in figures.all(job="memory"):
        who = f'`fold`, `remat="{request["way"]}"`' if request["who"] == "cdl" else "PyTorch, by levels"
        much = found["megabytes"]
        rows.append((who, request["width"], "not installed" if much is None else f"{much:.0f}"))
    return table(["", "width", "MB"], rows)


def compiling(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = [
        (
            LABELS[q["name"]],
            q["width"],
            f"{r['compile']['cdl']['forward']:.1f}",
            f"{r['compile']['cdl']['both']:.1f}",
            "",
        )
        for q, r in figures.all(job="race", huge=False)
    ]
    found = figures.one(job="compiling")
    for n in ("1", "2", "4", "8"):
        further = _further(found, n)
        rows.append((f"eight constructors, distinct: {n}", figures.all(job="compiling")[0][0]["width"]))
        rows[-1] += (f"{found[n]['forward']:.1f}", f"{found[n]['both']:.1f}", further)
    return table(["problem", "width", "forward, s", "forward + backward, s", "for each further, s"], rows)


def _further(found: dict[str, Any], n: str) -> str:
    if n == "1":
        return ""
    return " / ".join(f"{(found[n][kind] - found['1'][kind]) / (int(n) - 1):.2f}" for kind in KINDS)


def packing(figures: Figures) -> str:
    rows = []
    for request, found in figures.all(job="packing"):
        for label, name in (("`pack`", "pack"), ("`corpus[batch]`", "corpus")):
            took = found[name]["median"]
            step = step_of(figures, request)
            rows.append((LABELS[request["name"]], label, ms(took), "" if step is None else per_cent(took / step)))
        rows.append((LABELS[request["name"]], "`Corpus(…)`, once", ms(found["corpus once"]), ""))
    return table(["problem", "", "ms", f"share of a step, width {figures.all(job='packing')[0][0]['width']}"], rows)


def step_of(figures: Figures, request: dict[str, Any]) -> float | None:
    """The training step of a problem at a width."""
    found = figures.all(job="race", name=request["name"], width=request["width"], huge=False)
    return found[0][1]["both"]["cdl"]["median"] if found else None


def epochs(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="epoch"):
        other = median(found["both"], "torch levels")
        row = (request["width"], f"{found['trees']:,}", f"{found['nodes']:,}", found["steps"])
        row += (ms(found["both"]["cdl"]["median"]), "not installed" if other is None else ms(other))
        rows.append((*row, "" if other is None else f"**{ratio(found['both'], 'torch levels')}**"))
    return table(["width", "trees", "nodes", "steps", "cdl, ms", "PyTorch, ms", "ratio"], rows)


def chains(figures: Figures) -> str:
    found = figures.one(job="chain")
    rows: list[tuple[str, ...]] = []
    for kind, label in KINDS.items():
        seconds = " / ".join(f"{found['compile'][who][kind]:.1f}" for who in ("cdl", "scan"))
        fold, scan = (found[kind][who]["median"] for who in ("cdl", "scan"))
        rows.append((f"{found['length']:,} deep, width {found['width']}", label, ms(fold), ms(scan)))
        rows[-1] += (f"**{fold / scan:.2f} ×**", seconds)
    return table(["", "", "`fold`, ms", "`lax.scan`, ms", "ratio", "compiled in, s"], rows)


SEQUENCES = {
    "fold": "`annotate`",
    "fold, plain": "the same, `bulk=False`",
    "fold, bulk and ahead": "the same, `ahead=True`",
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
            row = (request["cell"].upper(), _pages(request), label)
            if times[0] is None:
                rows.append((*row, "not installed", "", "", ""))
                continue
            shares = [per_cent(floor / t["median"]) for floor, t in zip(floors, times, strict=True)]
            ratios = f"{times[1]['median'] / found['both']['fold']['median']:.2f} ×"
            rows.append((*row, *(ms(t["median"]) for t in times), ratios, " / ".join(shares)))
    head = ["cell", "pages", "", "forward, ms", "forward + backward, ms", "to `annotate`", "share of the peak"]
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
    return table(["cell", "", "lanes × steps", "forward, ms", "forward + backward, ms", "fill"], rows)


def machines(figures: Figures) -> str:
    labels = {"run": "`run`", "scan": "`lax.scan` by hand"}
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="machines"):
        for who, label in labels.items():
            times = [ms(found[kind][who]["median"]) for kind in KINDS]
            rows.append((request["cell"].upper(), label, *times, ratio(found["both"], who, "run")))
    return table(["cell", "", *(f"{k}, ms" for k in KINDS.values()), "to `run`"], rows)


def streams(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="machines"):
        for width, times in found["streams"].items():
            each = [f"{1e3 * times[who]['median'] / found['steps']:.1f}" for who in ("step", "jitted")]
            rows.append((request["cell"].upper(), width, *each, ratio(times, "step", "jitted")))
    return table(["cell", "width", "`step`, µs", "the cell, µs", "ratio"], rows)


def growth(figures: Figures) -> str:
    labels = {"unfold": "`unfold`", "refold": "`refold`, chosen", "follow": "`follow`", "halves": "`refold`, halves"}
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
        what = labels[problem], f"{found['nodes']:,}", _pages(request)
        rows.append((*what, "cdl", *(ms(found[kind]["cdl"]["median"]) for kind in KINDS), "", ""))
        for who in peers[problem]:
            times = [median(found[kind], who) for kind in KINDS]
            shown = ["not installed" if who.startswith("torch") else "" if t is None else ms(t) for t in times]
            shown = [ms(t) if t is not None else s for t, s in zip(times, shown, strict=True)]
            ratios = [ratio(found[kind], who) if who in found[kind] else "" for kind in KINDS]
            rows.append((*what, names[who], *shown, *ratios))
    times = [f"{k}, ms" for k in KINDS.values()]
    return table(["problem", "nodes", "pages", "", *times, "to cdl, forward", "to cdl, with backward"], rows)


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


def signatures(figures: Figures) -> str:
    labels = {"4": "4", "all": "all, of one sort", "sorts": "all, of three sorts", "fields": "the same, fields by name"}
    found, rows = figures.one(job="signatures"), []
    for name, label in labels.items():
        one = found[name]
        times = [f"{ms(found[kind][name]['median'])} ({_against_four(found, kind, name)})" for kind in KINDS]
        seconds = f"{one['compile']['forward']:.1f} / {one['compile']['both']:.1f}"
        rows.append((label, one["constructors"], *times, per_cent(one["fill"]), seconds))
    return table(["constructors", "met", "forward, ms", "forward + backward, ms", "fill", "compiled in, s"], rows)


def _against_four(found: dict[str, Any], kind: str, name: str) -> str:
    per_node = {n: found[kind][n]["median"] / found[n]["nodes"] for n in ("4", name)}
    return f"{per_node[name] / per_node['4']:.2f} ×"


def widths(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="widths"):
        for option, fill in found["fill"].items():
            mark = ", chosen" if option == found["chosen"] else ""
            times = (ms(found[kind][option]["median"]) for kind in KINDS)
            rows.append((LABELS[request["name"]], option + mark, found["chunks"][option], per_cent(fill), *times))
    return table(
        ["problem", "rows of a chunk; of a block", "chunks", "fill", *(f"{k}, ms" for k in KINDS.values())], rows
    )


def devices(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for name, label in LABELS.items():
        one, two = (figures.one(job="devices", name=name, devices=n) for n in (1, 2))
        for kind, words in KINDS.items():
            a, b = one[kind]["cdl"]["median"], two[kind]["cdl"]["median"]
            rows.append((label, words, ms(a), ms(b), f"{a / b:.2f} ×", " + ".join(f"{n:,}" for n in two["nodes"])))
    return table(["problem", "", "one device, ms", "two devices, ms", "faster", "nodes of each"], rows)


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
    return table(["action", "n", "", *times, "to `Equivariant`, forward", "with backward"], rows)


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
    return table(["", *(f"after {n}" for n in at), "a step, ms"], rows) + f"\n\n{words}"
