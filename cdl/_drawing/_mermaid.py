"""A diagram as Mermaid source: the same nodes, wires and frames, laid out by Mermaid.

What users name may have any characters. Those that mean something to Mermaid, to Markdown in its labels, or to the page
that the source stands in, are written as Mermaid's codes, such as `#60;` for `<`: also in comments.
"""

from .diagram import Diagram, Frame, Node, Wire


SHAPES = {
    "box": '["{}"]',
    "moore": '[["{}"]]',
    "state": '(["{}"])',
    "final": '((("{}")))',
    "port": '>"{}"]',
    "parameter": '{{{{"{}"}}}}',
    "dot": '(("{}"))',
    "cell": '["{}"]',
}
CODES = {ord(c): f"#{ord(c)};" for c in '#&"<>%`$|\\'}


def mermaid(diagram: Diagram) -> str:
    """The diagram as the source of a flowchart."""
    lines = ["flowchart LR"]
    _inside(diagram, None, lines, 1)
    nodes = {node.key: node for node in diagram.nodes}
    for wire in diagram.wires:
        line = ("-.->" if wire.back else "-->") if wire.arrow else "---"
        words = _named(wire, nodes)
        label = f'|"{_quoted(words)}"|' if words else ""
        lines.append(f"  {wire.source} {line}{label} {wire.target}")
    return "\n".join([*lines, *(f"  %% {_quoted(note)}" for note in diagram.notes), ""])


def _named(wire: Wire, nodes: dict[str, Node]) -> str:
    """What is written at a wire: the names of the ends that it joins, and its own label."""
    found = []
    for key, (x, y) in ((wire.source, wire.points[0]), (wire.target, wire.points[-1])):
        ends = nodes[key].ends if key in nodes else ()
        beside = [(abs(begin - x), words) for words, (begin, row) in ends if row == y]
        found.append(min(beside)[1] if beside else "")
    return " ".join(filter(None, [" → ".join(filter(None, found)), wire.label]))


def _inside(diagram: Diagram, frame: Frame | None, lines: list[str], depth: int) -> None:
    """What is in a frame, or in none: nodes, then frames with what is in them."""
    within = [f for f in diagram.frames if frame is None or frame.holds(f)]
    for node in diagram.nodes:
        if (frame is None or frame.holds(node)) and not any(f.holds(node) for f in within):
            lines.append("  " * depth + _node(node))
    for f in within:
        if not any(g.holds(f) for g in within):
            lines.append("  " * depth + f'subgraph {f.key}["{_quoted(f.name) or " "}"]')
            _inside(diagram, f, lines, depth + 1)
            lines.append("  " * depth + "end")


def _node(node: Node) -> str:
    words = " " if node.kind == "dot" else "<br>".join(map(_quoted, node.lines)) or " "
    return node.key + SHAPES[node.kind].format(words)


def _quoted(words: str) -> str:
    return words.translate(CODES)
