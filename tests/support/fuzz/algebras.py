"""Algebras as text: for each constructor a case, in which one state goes through the places in order.

| style    | the state                     | at a child `x`                          | at a payload          |
| -------- | ----------------------------- | --------------------------------------- | --------------------- |
| `hash`   | a number of 32 bits           | `cell(mix(h, x))`                       | `mix(h, bits(p))`     |
| `float`  | a vector of some type         | `cell(a * h + b * roll(x))`             | `h + c * number(p)`   |
| `number` | a Python number, until a `p`  | `h + k * x`                             | `h + k * p`           |

So no two children, constructors or fields may be exchanged. `carriers` says how the state is put into the value. Where
the weights are `stacked`, each case begins with a layer of its constructor in a stack; where an algebra is `closed`, it
is a function that closes over an array.
"""

import random
import zlib
from dataclasses import dataclass, field
from typing import Any

from . import cells
from .families import Constructor, Family


CARRIERS = {  # how a value is made of a state, and a state of a value
    "plain": ("{}", "{}"),
    "pair": ("({}, jnp.sum({}))", "({x}[0] + {x}[1])"),
    "dict": ('{{"h": {}, "n": jnp.sum({} > 0)}}', '({x}["h"] * (1 + {x}["n"] % 2))'),
    "scalar": ("({})[0] - 2 * ({})[1]", "({x} * self.w['e'][0])"),
}
REDUCTIONS = ("sum", "mean", "attend", "fold", "count", "max", "min", "prod", "var")
ORDERED, DIVIDED, PRODUCTS = ("max", "min"), ("attend", "mean", "var"), ("prod",)


@dataclass(frozen=True)
class Algebra:
    """What is drawn of the algebras of all sorts. The keys of `cells`, `inner` and `ways` are places, `C0_1.f2`."""

    style: str
    dtypes: tuple[str, ...]
    carriers: tuple[str, ...]
    cells: dict[str, str] = field(default_factory=dict)
    inner: dict[str, str] = field(default_factory=dict)
    ways: dict[str, str] = field(default_factory=dict)
    zeros: dict[str, str] = field(default_factory=dict)
    stacked: bool = False
    closed: bool = False
    keyed: bool = False
    seed: int = 0

    @property
    def one(self) -> str:
        """A cell for what is not an algebra: one with a gradient."""
        smooth = [c for c in self.cells.values() if set(c.split("+")) <= cells.SMOOTH.keys()]
        return smooth[0] if smooth else "tanh"

    def text(self, family: Family) -> str:
        """The classes, and the tuple `ALGS`."""
        classes = [self._class(family, s) for s in range(family.sorts)]
        made = [
            f"A{s}({self._weights(family, s)}, {self._cells(family, s)}, {self.own(family, s)})"
            for s in range(family.sorts)
        ]
        return "\n\n".join(classes) + f"\n\nALGS = ({', '.join(made)},)"

    def _class(self, family: Family, sort: int) -> str:
        call = (
            "def __call__(self, layer: Any, *, key: Any = None) -> Any:" if self.keyed else "def __call__(self, layer):"
        )
        lines = [
            f"class A{sort}(cdl.Algebra[S{sort}, Any]):",
            "    w: Any",
            "    cells: Any",
            "    own: Any",
            "",
            f"    {call}",
        ]
        lines += ["        match layer:"]
        for c in family.of(sort):
            lines += [f"            case {c.name}({', '.join(n for n, _ in c.fields)}):"]
            lines += [f"                {line}" for line in self._case(c)]
        return "\n".join(lines)

    def _weights(self, family: Family, sort: int) -> str:
        if self.style != "float":
            return "None"
        names = [x for c in family.of(sort) for x in (c.name, *(f"{c.name}.{n}" for n, _ in c.fields))]
        return f'weights({self.seed + sort}, {["e", *names]}, "{self.dtypes[sort]}")'

    def own(self, family: Family, sort: int) -> str:
        """A linear layer of each constructor of a sort."""
        make = f'lambda key: eqx.nn.Linear(D, D, dtype="{self.dtypes[sort]}", key=key)'
        kinds = "".join(f"{c.name}, " for c in family.of(sort))
        return f"cdl.stacked(({kinds}), {make}, key=jr.key({self.seed}))" if self.stacked else "None"

    def _cells(self, family: Family, sort: int) -> str:
        places = [f"{c.name}.{n}{m}" for c in family.of(sort) for n, t in c.fields for m in ("", "'") if t[0] != "data"]
        if self.style == "number":
            return "None"
        return "{" + ", ".join(f'"{p}": {cells.text(self.cell(p), constant(p))}' for p in places) + "}"

    def cell(self, place: str) -> str:
        found = self.inner.get(place[:-1]) if place.endswith("'") else self.cells.get(place)
        return found or {"hash": "word_plus", "float": "tanh"}[self.style]

    def _case(self, c: Constructor) -> list[str]:
        # Cases with children may begin alike, and differ only in what their cells close over.
        first = constant(c.name) if self.seed % 2 or all(t[0] == "data" for t in c.terms) else 5
        weight = f"self.w['{c.name}'][0]"
        weight = f"self.own[{c.name}]({weight})" if self.stacked else weight
        start = {"hash": f"jnp.uint32({first})", "float": weight, "number": self._k(c.name)}
        lines = [f"h = {start[self.style]}"]
        for name, term in c.fields:
            lines += self._field(f"{c.name}.{name}", name, term)
        made = CARRIERS[self.carriers[c.sort]][0]
        return [*lines, f"return {made.replace('{}', 'h').replace('{{', '{').replace('}}', '}')}"]

    def _field(self, place: str, x: str, term: Any) -> list[str]:
        indented = lambda lines: [f"    {line}" for line in lines]
        match term:
            case ("data", kind):
                return self._payload(place, x, kind)
            case ("x", sort):
                return [f"h = {self._called(place, self._joined(place, 'h', self._state(x, sort)))}"]
            case ("maybe", of):
                return [f"if {x} is not None:", *indented(self._field(place, x, of))]
            case ("pair", parts):
                return [line for i, t in enumerate(parts) for line in self._field(place, f"{x}[{i}]", t)]
            case ("list", of):
                name = "x" + str(x.count("x"))
                return [f"for {name} in {x}:", *indented(self._field(place, name, of))]
            case (_, sort):
                reduced = self._reduced(place, x, sort)
                return [f"h = {self._called(place, self._joined(place, 'h', reduced))}"]
        raise AssertionError(term)

    def _payload(self, place: str, x: str, kind: Any) -> list[str]:
        if self.style == "hash":
            return [f"h = mix(h, bits({x}))"]
        if self.style == "number":
            return [f'h = h + {self._k(place)} * ({x} % 7).astype("{self.dtypes[0]}")'] if kind[0] == "py" else []
        return [f"h = h + self.w['{place}'][0] * number({x}).astype(h.dtype)"]

    def _reduced(self, place: str, x: str, sort: int) -> str:
        """A `Many` as one state."""
        way, zero = self.ways.get(place, "sum"), self.zeros.get(place, "like")
        if way == "count":
            return {"hash": f"jnp.uint32({x}.count)", "number": f"{x}.count"}.get(
                self.style, f"(jnp.asarray({x}.count) * self.w['{place}'][2]).astype(h.dtype)"
            )
        if zero == "whole" and self.carriers[sort] in ("plain", "scalar") and way in ("sum", "max"):
            none = "0" if self.style == "number" or self.carriers[sort] == "scalar" else "jnp.uint32(7)"
            none = f'jnp.zeros(D, "{self.dtypes[sort]}")' if self.style == "float" and none[0] != "0" else none
            return self._state(f"{x}.{way}({none})", sort)
        inside = (
            self._joined(place, "x", "h")
            if self.style == "number"
            else self._joined(place, "h", self._state("x", sort))
        )
        each = f"{x}.map(lambda x: {self._called(place + self._mark, inside)})"
        none = {"hash": "jnp.uint32(9)", "number": self._k(place), "float": f"self.w['{place}'][2].astype(h.dtype)"}[
            self.style
        ]
        if way == "attend":
            return f"{each}.attend(lambda x: jnp.sum(x), {none})"
        if way == "fold":
            return f"{each}.fold(chain({none}, lambda h, x: {self._joined(place, 'h', 'x')}))"
        return f"{each}.{way}({none})"

    _mark = "'"

    def _state(self, x: str, sort: int) -> str:
        """The state in a child's value, in the type of this one."""
        found = CARRIERS[self.carriers[sort]][1].replace("{x}", x).replace("{}", x)
        return f"{found}.astype(h.dtype)" if self.style == "float" else found

    def _joined(self, place: str, h: str, x: str) -> str:
        if self.style == "hash":
            return f"mix({h}, {x})"
        if self.style == "number":
            return f"{h} + {self._k(place)} * {x}"
        return f"self.w['{place}'][0] * {h} + self.w['{place}'][1] * jnp.roll({x}, 1)"

    def _called(self, place: str, x: str) -> str:
        if self.style == "number":
            return x
        key = ", key=key" if self.cell(place) in cells.KEYED else ""
        return f'self.cells["{place}"]({x}{key})' + ("" if self.style == "hash" else ".astype(h.dtype)")

    def _k(self, place: str) -> str:
        """A small number for a place: an integer, or in an algebra of floats a float at every other place."""
        small = constant(place) % 3 + 1
        return str(small / 4) if self.dtypes[0] != "int32" and small % 2 else str(small)


def constant(place: str) -> int:
    return zlib.crc32(place.encode()) % 97 + 1


def draw(rng: random.Random, family: Family, x64: bool, *, smooth: bool = False) -> Algebra:
    """Random algebras of a family. `smooth`: to be differentiated."""
    style = "float" if smooth else rng.choices(("hash", "float", "number"), (5, 4, 2))[0]
    every = range(family.sorts)
    dtypes = ("float64", "float64", "float32", "bfloat16") if x64 else ("float32", "float32", "bfloat16", "float16")
    kinds = {"float": ("plain", "plain", "pair", "dict", "scalar"), "hash": ("plain",), "number": ("plain",)}[style]
    own = tuple(rng.choice(dtypes) for _ in every) if rng.random() < 0.2 else (rng.choice(dtypes),) * family.sorts
    own = (rng.choice(("int32", "float32")),) * family.sorts if style == "number" else own
    keyed, stacked, closed = (style == "float" and rng.random() < share for share in (0.2, 0.4, 0.2))
    stacked &= not any("16" in d for d in own)  # not every batch of 16 bits has a product on a CPU
    if style == "hash":
        table = list(cells.WORDS)
    else:
        table = list(cells.FUNCTIONS) + list(cells.CONTROL)
        if set(own) <= {"float64" if x64 else "float32"}:
            table += [c for c in cells.LAYERS if c != "Dropout"]
        if not smooth:
            table += list(cells.FORWARD)
        if keyed:
            table = [*table[::4], *(3 * list(cells.KEYED))]
    if any("16" in d for d in own):
        table = [c for c in table if c not in cells.JUMPS]
    places = [f"{c.name}.{n}" for c in family.constructors for n, _ in c.fields]
    some = rng.sample(table, min(len(table), 4))
    left_out = (
        (ORDERED if smooth else ()) + (DIVIDED if style != "float" else ()) + (PRODUCTS if style == "number" else ())
    )
    ways = [w for w in REDUCTIONS if w not in left_out]

    def pick(xs: Any, share: float) -> dict[str, Any]:
        found = {p: rng.choice(xs) for p in places if "t." not in p and rng.random() < share}
        return found | {p: found[of] for p in places if (of := p.replace("t.", ".")) in found}

    return Algebra(
        style, own, tuple(rng.choice(kinds) for _ in every), pick(some, 0.6), pick(some, 0.4), pick(ways, 0.8),
        pick(("like", "like", "whole"), 0.8), stacked, closed and not keyed, keyed, rng.randrange(10**6),
    )  # fmt: skip
