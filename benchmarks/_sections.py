"""The tables of trees that are packed and folded, each from what one run measured."""

from typing import Any

from ._figures import Figures, median, ms, per_cent, ratio, table


LABELS = {
    "binary": "binary trees",
    "shared": "Python, one set",
    "own": "Python, one for each",
    "stacked": "Python, one for each, stacked",
}
KINDS = {"forward": "forward", "both": "forward + backward"}


def memory_of(request: dict[str, Any]) -> str:
    return "kept" if request.get("kept") else "new"


def against(figures: Figures) -> str:
    rows = []
    for request, race in figures.all(job="race"):
        for kind, label in KINDS.items():
            other = median(race[kind], "torch levels")
            shown = "not installed" if other is None else ms(other)
            row = [LABELS[request["name"]], request["width"], memory_of(request), label]
            row += [ms(race[kind]["cdl"]["median"]), shown]
            rows.append([*row, "" if other is None else f"**{ratio(race[kind], 'torch levels')}**"])
    return table(["problem", "width", "memory", "pass", "`fold`, ms", "PyTorch, ms", "ratio"], rows)


def stores(figures: Figures) -> str:
    rows = [
        (LABELS[q["name"]], q["width"], memory_of(q), *(ms(r["stores"][way]["both"]) for way in r["stores"]))
        for q, r in figures.all(job="race")
        if r["stores"]
    ]
    return table(["problem", "width", "memory", "joined, ms", "one array, ms", "pieces, ms"], rows)


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
    return table(["problem", "program", "forward, ms", "forward + backward, ms", "compiled in, s"], rows)


def floors(figures: Figures) -> str:
    rows = []
    for request, race in figures.all(job="race"):
        peers = [t for t in ("torch levels",) if t in race["both"]]
        shares = [
            per_cent(figures.floor(race, kind) / race[kind][who]["median"]) for who in ("cdl", *peers) for kind in KINDS
        ]
        shown = [" / ".join(shares[i : i + 2]) for i in range(0, len(shares), 2)]
        floor = " / ".join(ms(figures.floor(race, kind)) for kind in KINDS)
        row = [LABELS[request["name"]], request["width"], memory_of(request), f"{race['operations'] / 1e9:.2f}", floor]
        rows.append([*row, shown[0], shown[1] if peers else "not installed", per_cent(race["fill"])])
    head = ["problem", "width", "memory", "GFLOP, forward", "floor, ms", "share, `fold`", "share, PyTorch", "fill"]
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
    return table(["program", "width", "MB"], rows)


def compiling(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = [
        (
            LABELS[q["name"]],
            q["width"],
            f"{r['compile']['cdl']['forward']:.1f}",
            f"{r['compile']['cdl']['both']:.1f}",
            "",
        )
        for q, r in figures.all(job="race", kept=False)
    ]
    found = figures.one(job="compiling")
    for n in ("1", "2", "4", "8"):
        further = _further(found, n)
        rows.append((f"eight constructors, distinct: {n}", figures.all(job="compiling")[0][0]["width"]))
        rows[-1] += (f"{found[n]['forward']:.1f}", f"{found[n]['both']:.1f}", further)
    for n, took in found["layers"].items():
        rows.append((f"`unfold`, {n} layers", figures.all(job="compiling")[0][0]["width"]))
        rows[-1] += (f"{took['forward']:.1f}", f"{took['both']:.1f}", "")
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
    return table(
        ["problem", "packed by", "ms", f"share of a step, width {figures.all(job='packing')[0][0]['width']}"], rows
    )


def step_of(figures: Figures, request: dict[str, Any]) -> float | None:
    """The training step of a problem at a width."""
    found = figures.all(job="race", name=request["name"], width=request["width"], kept=False)
    return found[0][1]["both"]["cdl"]["median"] if found else None


def epochs(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="epoch"):
        other = median(found["both"], "torch levels")
        row = (request["width"], f"{found['trees']:,}", f"{found['nodes']:,}", found["steps"])
        row += (ms(found["both"]["cdl"]["median"]), "not installed" if other is None else ms(other))
        rows.append((*row, "" if other is None else f"**{ratio(found['both'], 'torch levels')}**"))
    return table(["width", "trees", "nodes", "steps", "cdl, ms", "PyTorch, ms", "ratio"], rows)


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


def cores(figures: Figures) -> str:
    rows: list[tuple[Any, ...]] = []
    for request, found in figures.all(job="cores"):
        for kind, label in KINDS.items():
            times = [median(found[kind], who) for who in ("cdl", "cores", "torch levels")]
            shown = ["not installed" if t is None else ms(t) for t in times]
            ratios = [ratio(found[kind], who, "cores") for who in ("cdl", "torch levels")]
            rows.append((LABELS[request["name"]], request["width"], label, *shown, *ratios))
    times = ["one device, ms", "a device for each core, ms", "PyTorch, ms"]
    return table(["problem", "width", "pass", *times, "one device to all", "PyTorch to all"], rows)
