"""Names with any characters in them: drawn and explained as they are, and nothing but names in every form."""

import html
import re
import types
import xml.etree.ElementTree as ET
from typing import Any, Generic, TypeVar, Union

import jax
import jax.numpy as jnp
import pytest
from well_drawn import well_drawn

from cdl import Algebra, Base, draw, explain, Many, MooreF, Node, Para
from cdl.functors import StreamF
from cdl.learning import layers
from cdl.system import box, wire


X = TypeVar("X")

HOSTILE = [
    '%%{init: {"securityLevel": "loose"}}%%',
    '"] & click n0 "javascript:alert(1)"',
    "`` | ` | \\n & &amp; #lt; #60; $x$ \\$ $",
    "\x1b[31m\x00\t\r\n\u2028\u202e\ud800\ufffe]]>",
    "",
]


UNPRINTED = "[\x00-\x1f\u2028\u202e\ud800\ufffe]"
EVERYTHING = '<b> --> %%{a}\n"]&`|\\#60;$x$__a__[d](e)\x1b\x00\u202e\ud800\ufffe]]>'


def constructor(name: str, tag: Any, annotations: dict[str, Any], *bases: Any) -> Any:
    """A constructor with a name that no program would be written with."""
    body = {"__annotations__": annotations, "__module__": __name__}
    return types.new_class(name, (Base[tag, X], *bases), {}, lambda names: names.update(body))


def signature(name: str) -> Any:
    """A tag and its two constructors."""
    name = named(name)
    tag = type(name, (), {})
    leaf = constructor(name, tag, {"label": float}, Generic[X])
    fork = constructor(f"{name}!", tag, {"left": X, "right": X}, Generic[X])
    return leaf, fork


def named(name: str) -> str:
    """What a class can be called of a name."""
    return name.replace("\x00", "").replace("\ud800", "")


def algebra(name: str, leaf: Any, fork: Any) -> Any:
    """An algebra with the name, and weights with the name."""

    def call(self, layer):
        return self.one[name].sum() + (layer.label if isinstance(layer, leaf) else layer.right)

    body = {
        "__annotations__": {"one": dict, "idle": jax.Array},
        "__call__": call,
        "__module__": __name__,
    }
    made: Any = types.new_class("Made", (Algebra[Union[leaf, fork], Any],), {}, lambda names: names.update(body))
    made.__name__ = named(name)  # Equinox runs a program that has the first name of a class in it
    return made({name: jnp.ones(2)}, jnp.ones(3))


def things(name: str) -> list[Any]:
    """What is drawn, with the name wherever a name can be."""
    box = Para({name: jnp.ones(3)}, lambda p, x: x).named(name)
    leaf, fork = signature(name)
    tree = fork(leaf(1.0), leaf(2.0))

    def machine(state: Any) -> Any:
        return StreamF(state, lambda: state)

    machine.__name__ = name
    alg = algebra(name, leaf, fork)
    optic = layers.linear(3, 3, key=jax.random.key(0)).named(name)
    return [
        draw(box >> (box >> box).named(name)),
        draw(Union[leaf, fork]),
        draw(tree),
        draw(Node(Shown(name), Many())),
        draw(alg),
        draw(alg, tree),
        draw(machine, 0),
        draw(optic >> optic),
        draw(system(name, name or "port")),
    ]


def system(name: str, port: str) -> Any:
    """A box in a diagram, with the name for each, and a port with one too."""
    held = box(
        lambda s: MooreF({port: s}, lambda given: given[port]),
        jnp.zeros(2),
        inputs={port: jnp.zeros(2)},
        outputs={port: jnp.zeros(2)},
        name=name,
    )
    inner = wire(
        {port: held},
        {f"{port}.{port}": port},
        {port: f"{port}.{port}"},
        inputs={port: jnp.zeros(2)},
        name=name,
    )
    return wire({port: inner}, {f"{port}.{port}": f"{port}.{port}"}, {port: f"{port}.{port}"}, name=name)


class Shown:
    """A payload that is shown by a name."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


@pytest.mark.parametrize("name", [EVERYTHING, HOSTILE[0], ""], ids=["everything", "a directive", "none"])
def test_draw_has_the_name_and_nothing_else_of_it_in_every_form(name, tmp_path):
    for drawing in things(name):
        diagram = drawing.diagram
        well_drawn(diagram)
        words = [line for n in diagram.nodes for line in n.lines] + [f.name for f in diagram.frames]
        words += [w.label for w in diagram.wires] + [end for n in diagram.nodes for end, _ in n.ends]
        words += diagram.notes
        assert all(word.isprintable() for word in words)

        assert len(drawing.text.split("\n")) == diagram.size[1] + len(diagram.notes) + bool(diagram.notes)
        assert drawing.text.replace("\n", "").isprintable()

        root = ET.fromstring(drawing.svg)
        assert {x.tag.split("}")[1] for x in root.iter()} <= set("svg defs marker path rect circle text".split())
        shown = [x.text or "" for x in root.iter("{http://www.w3.org/2000/svg}text")]
        dots = [line for n in diagram.nodes if n.kind == "dot" for line in n.lines]
        assert sorted(filter(None, [*shown, *dots])) == sorted(filter(None, words))

        first, *lines, last = drawing.mermaid.split("\n")
        assert (first, last) == ("flowchart LR", "")
        for line in lines:
            assert any(re.fullmatch(form, line) for form in LINES), line
        comments = [line for line in lines if line.lstrip().startswith("%%")]
        assert [decoded(line.lstrip()[3:]) for line in comments] == list(diagram.notes)
    assert drawing.save(tmp_path / "a.png").exists()


SAFE = r'(?:[^#&"<>%`$|\\]|#\d+;)*'
SHAPES = [
    r"\[()\]",
    r"\[\[()\]\]",
    r"\(\[()\]\)",
    r"\(\(\(()\)\)\)",
    r">()\]",
    r"\{\{()\}\}",
    r"\(\(()\)\)",
]
LINES = [
    *(r" *n\d+" + shape.replace("()", f'"{SAFE}(?:<br>{SAFE})*"') for shape in SHAPES),
    rf' *subgraph f\d+\["{SAFE}"\]',
    r" *end",
    rf'  [nf]\d+ (?:-->|-\.->|---)(?:\|"{SAFE}"\|)? [nf]\d+',
    rf"  %% {SAFE}",
]


def decoded(words):
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), words)


def spans(line):
    """A line of Markdown without what is between backticks, as CommonMark finds it."""
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line)


def in_markdown(page: Any) -> None:
    """No name means anything to Markdown or to HTML: it is code, or escaped in a cell of a table."""
    assert str(page).replace("\n", "").isprintable()
    for line in page.markdown.split("\n"):
        assert line.isprintable()
        if line.startswith("| "):
            assert line.count("|") in (3, 4)  # cells, two or three
            assert not re.search(r"[<`*~$\\]|\]\(|&(?!#\d+;)|\b__|__\b", line.replace("| |", "")), line
        else:
            assert not re.search(r"[<`&$\\]", spans(line)), line
    lines = [html.unescape(line) for line in page.markdown.split("\n")]
    assert all(f"| {re.sub(UNPRINTED, chr(0xFFFD), w.name)} | {w.shape} | {w.size} |" in lines for w in page.parameters)


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_a_page_in_markdown_has_the_name_and_nothing_else_of_it(name):
    from cdl.explanation import Checked, Explanation, Weights

    law, weights = Checked(f"{name} = {name}", 0.0, 0.0), Weights(name, "f32[2]", 2)
    page = Explanation(name, "a", (name,), name, (name, name), (weights, weights), (name,), (law, law), (name,))
    in_markdown(page)


def test_what_is_explained_has_names_with_any_characters():
    name = EVERYTHING
    leaf, fork = signature(name)
    page = explain(algebra(name, leaf, fork), [leaf(1.0), fork(leaf(1.0), leaf(2.0))])
    assert page.holds
    in_markdown(page)
    f = Para({name: jnp.ones(3)}, lambda p, x: p[name] * x).named(name)
    in_markdown(explain(f >> f, jnp.ones(3)))
