"""Systems as pictures: what is drawn is each box, each port and each wire, once, and it can be read."""

import functools
import itertools
import pathlib
import random
import time
from collections import Counter
from typing import Any

import jax.numpy as jnp
import pytest
from few import few
from test_wired import moore, some
from well_drawn import crossings, well_drawn

import cdl
from cdl.system import among, box, field, Interface, rewire, share, wire, Wiring


GATE = Interface({"a": float, "b": float}, {"x": float, "y": float})
BOXES = ("box", "moore")
IMAGES = pathlib.Path(__file__).parents[2] / "tutorials" / "images"


def diagram(seed: int) -> Wiring:
    """One to eight gates with wires drawn from every source: loops, forks, and outputs that drive nothing."""
    draw = random.Random(seed)
    boxes = "pqrstuvw"[: draw.randint(1, 8)]
    sources = ["a", "b", *(f"{box}.{port}" for box in boxes for port in "xy")]
    wires = {f"{box}.{port}": draw.choice(sources) for box in boxes for port in "ab"}
    return Wiring(dict.fromkeys(boxes, GATE), wires, {p: draw.choice(sources[2:]) for p in "xy"}, GATE.inputs)


def within(drawn: Any, node: Any) -> list[Any]:
    """The frames around a node, the outermost first."""
    return sorted((f for f in drawn.frames if f.holds(node)), key=lambda f: -f.width)


def path(drawn: Any, node: Any) -> str:
    """The path of a box: the names in front of those of systems."""
    names = [*(f.name for f in within(drawn, node)[1:]), node.lines[0]]
    return ".".join(name.partition(":")[0] for name in names)


def wires(drawn: Any) -> Counter[tuple[str, str]]:
    """How often each pair of ends is joined by wires, followed through forks and through borders of frames."""
    nodes = {n.key: n for n in drawn.nodes}

    def at(key: str, point: Any, left: bool) -> Any:
        """An end: of a box, by its row; of the whole; or a place that is gone through."""
        node = nodes.get(key)
        if node is not None and node.kind in BOXES:
            side = [words for words, (x, y) in node.ends if y == point[1] and (x < sum(node.middle[:1])) == left]
            return f"{path(drawn, node)}.{side[0]}"
        return node.lines[0] if node and node.kind == "port" and not within(drawn, node) else (key,)

    after: dict[Any, list[Any]] = {}
    for w in drawn.wires:
        after.setdefault(at(w.source, w.points[0], left=False), []).append(at(w.target, w.points[-1], left=True))
    found: Counter[tuple[str, str]] = Counter()
    for source in [x for x in after if isinstance(x, str)]:
        ends = [*after[source]]
        while ends:
            end = ends.pop()
            if isinstance(end, str):
                found[end, source] += 1
            elif not end[0].startswith("f"):
                ends += after.get(end, [])
    return found


def expect_all(drawn: Any, wiring: Wiring) -> None:
    """Every box, port and wire of a diagram is there once, and what is inside of a frame is not cut by it."""
    well_drawn(drawn)
    boxes = {path(drawn, n): n for n in drawn.nodes if n.kind in BOXES}
    assert len(boxes) == drawn.count(*BOXES)
    assert set(boxes) == set(wiring.boxes)
    for at, x in wiring.boxes.items():
        assert [words for words, _ in boxes[at].ends] == [*x.inputs, *x.outputs]
    outside = [n.lines[0] for n in drawn.nodes if n.kind == "port" and not within(drawn, n)]
    assert sorted(outside) == sorted([*wiring.inputs, *wiring.outputs])
    joined = [*wiring.wires.items(), *wiring.outputs.items()]
    assert wires(drawn) == Counter(joined)
    for f in drawn.frames:
        assert all(f.holds(node) or _apart(f, node) for node in boxes.values())
    assert all(f.holds(g) or g.holds(f) or _apart(f, g) for f, g in itertools.combinations(drawn.frames, 2))


@pytest.mark.parametrize("seed", few(range(30), *range(1, 4)))
def test_every_box_port_and_wire_of_a_diagram_is_drawn_once(seed):
    wiring = diagram(seed)
    drawing = cdl.draw(wiring)
    expect_all(drawing.diagram, wiring)
    assert len(drawing.diagram.frames) == 1
    assert cdl.draw(diagram(seed)).svg == drawing.svg


@pytest.mark.parametrize("seed", few(range(30), *range(1, 4)))
def test_every_box_of_nested_systems_is_drawn_in_the_frames_of_those_around_it(seed):
    system = some(random.Random(seed))
    drawing = cdl.draw(system)
    if len(system.boxes) > 40:
        assert "drawn closed" in drawing.text
        return
    expect_all(drawing.diagram, system.wiring)
    kinds = {path(drawing.diagram, n): n.kind for n in drawing.diagram.nodes if n.kind in BOXES}
    slow = {at for step in system.plan.steps if step.moore for at in step.paths}
    assert kinds == {at: "moore" if at in slow else "box" for at in system.boxes}
    again = cdl.draw(some(random.Random(seed)))
    assert (drawing.text, drawing.svg, drawing.mermaid) == (again.text, again.svg, again.mermaid)


def _apart(f: Any, g: Any) -> bool:
    across = f.x + f.width <= g.x or g.x + g.width <= f.x
    return across or f.y + f.height <= g.y or g.y + g.height <= f.y


def test_a_gate_of_gates_is_drawn_as_it_is_read():
    two = {"a": bool, "b": bool}
    nand = box(
        lambda s: cdl.MooreF({"out": s}, lambda i: ~(i["a"] & i["b"])),
        jnp.array(False),
        inputs=two,
        outputs={"out": bool},
        name="NAND",
    )
    inverter = wire({"gate": nand}, {"gate.a": "x", "gate.b": "x"}, {"out": "gate.out"}, inputs={"x": bool}, name="NOT")
    drawn = """
     ┌╌ NOT ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┒
     ╎                          ┃
     ╎      ┌──────────────┒    ┃
 x───┼──●──▶│ a        out ┠────╂──▶out
     ╎  │   │  gate: NAND  ┃    ┃
     ╎  └──▶│ b            ┃    ┃
     ╎      └──────────────┚    ┃
     ╎                          ┃
     └╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┚"""
    assert "\n" + cdl.draw(inverter).text == drawn
    mermaid = cdl.draw(inverter).mermaid
    assert '[["gate: NAND"]]' in mermaid
    assert {'n3 -->|"b"| n1', 'n1 -->|"out"| n2'} <= {line.strip() for line in mermaid.splitlines()}


def test_a_field_has_its_variables_on_the_right_and_junctions_are_dots_with_a_name():
    def still(values: Any, inputs: Any = None) -> Any:
        return values

    growth, hunt = field(still, {"n": float}, name="growth"), field(still, {"prey": float, "by": float}, name="hunt")
    driven = field(still, {"n": float}, inputs={"rate": float}, name="decline")
    shared = share(
        {"growth": growth, "hunt": hunt, "decline": driven},
        {"rabbits": ["growth.n", "hunt.prey"], "foxes": ["hunt.by", "decline.n"]},
        name="both",
    )
    other = share({"both": shared, "more": growth}, {"rabbits": ["both.rabbits"], "rest": ["both.foxes", "more.n"]})
    for fields, boxes, dots in ((shared, 3, 2), (other, 4, 4)):
        drawn = cdl.draw(fields).diagram
        well_drawn(drawn)
        assert (drawn.count("box"), drawn.count("dot"), crossings(drawn)) == (boxes, dots, 0)
    assert cdl.draw(driven).diagram.count("box") == 1


def test_a_system_that_rewires_itself_has_a_box_for_the_wires():
    one = moore(0.5)
    plain = Wiring(
        {"p": one.interface, "q": one.interface},
        dict.fromkeys(["p.a", "p.b", "q.a", "q.b"], "u"),
        {"x": "p.x"},
        {"u": float},
    )
    system = rewire(
        among([plain, plain], lambda s: s, lambda s, i, d: s, jnp.array(0, jnp.int32)),
        {"p": one, "q": one},
        {"x": float},
        inputs={"u": float},
        name="towers",
    )
    drawing = cdl.draw(system)
    well_drawn(drawing.diagram)
    assert drawing.diagram.notes == ("wires  which end drives which depends on a state, i32[]",)
    assert wires(drawing.diagram)["wires.u", "u"] == wires(drawing.diagram)["p.a", "wires.p.a"] == 1
    outer = cdl.draw(wire({"towers": system}, {"towers.u": "u"}, {"x": "towers.x"}, inputs={"u": float}, name="outer"))
    well_drawn(outer.diagram)
    assert [f.name for f in outer.diagram.frames] == ["outer", "towers"]


@pytest.mark.slow
def test_what_is_too_large_is_drawn_in_part_and_says_so():
    many = {f"g{i}": moore(0.5) for i in range(1000)}
    chain = {f"g{i}.{p}": f"g{(i * 7 + 3) % 1000}.x" if i else "u" for i in range(1000) for p in "ab"}
    wiring = Wiring({at: x.interface for at, x in many.items()}, chain, {"x": "g999.x"}, {"u": float})
    begin = time.perf_counter()
    drawing = cdl.draw(wiring)
    assert drawing.diagram.notes == ("the first 60 of 1000 boxes, with the wires among them",)
    assert drawing.svg
    assert time.perf_counter() - begin < 5
    assert drawing.diagram.count("box") == 60


def test_an_input_that_drives_nothing_ends_at_the_frame():
    wiring = Wiring({"p": GATE}, {"p.a": "a", "p.b": "p.x"}, {"out": "p.y"}, {"a": float, "idle": float})
    drawn = cdl.draw(wiring).diagram
    well_drawn(drawn)
    (idle,) = (n for n in drawn.nodes if n.lines == ("idle",))
    assert [w.target for w in drawn.wires if w.source == idle.key] == [drawn.frames[0].key]


@functools.cache
def terms() -> dict[str, Any]:
    from systems.figures import figures

    return figures()


@pytest.mark.parametrize("name", [f"drawn-nested-{i}" for i in range(1, 7)])
def test_each_figure_is_that_of_its_term(name):
    drawing = cdl.draw(terms()[name])
    well_drawn(drawing.diagram)
    assert drawing.svg == (IMAGES / f"{name}.svg").read_text(), "run `PYTHONPATH=tutorials python -m systems.figures`"


def test_a_frame_has_the_bar_of_a_moore_machine_by_the_system_in_it_and_so_has_a_closed_box():
    one, out = {"x": float}, {"y": float}
    slow = box(lambda s: cdl.MooreF({"y": s}, lambda i: i["x"]), 0.0, inputs=one, outputs=out, name="slow")
    fast = box(cdl.machines.stateless(lambda i: {"y": i["x"]}), (), inputs=one, outputs=out, name="fast")

    def row(name: str, *parts: Any) -> Any:
        boxes = {f"{part.name}{k}": part for k, part in enumerate(parts)}
        paths = list(boxes)
        wires = {f"{at}.x": f"{paths[k - 1]}.y" if k else "x" for k, at in enumerate(paths)}
        return wire(boxes, wires, {"y": f"{paths[-1]}.y"}, inputs=one, name=name)

    waits, answers = row("waits", fast, slow), row("answers", fast, fast)
    drawing = cdl.draw(row("whole", waits, answers))
    assert [(f.name.partition(":")[0], f.moore) for f in drawing.diagram.frames] == [
        ("whole", True),
        ("waits0", True),
        ("answers1", False),
    ]
    assert drawing.text.splitlines()[0].endswith("╌┒")
    assert "the outputs of the box or frame come from its state" in drawing.text
    assert drawing.svg.count('rx="2"') == 3  # two frames, and the box `slow`
