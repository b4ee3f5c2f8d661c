"""Families of sorts: what their fields are, as terms, and the text of their classes.

A term is `("x", sort)`, `("maybe", term)`, `("list", term)`, `("pair", terms)`, `("many", sort)` or `("data", type)`.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import payloads


@dataclass(frozen=True)
class Constructor:
    name: str
    sort: int
    fields: tuple[tuple[str, Any], ...]

    @property
    def terms(self) -> list[Any]:
        return [term for _, term in self.fields]

    def least(self, costs: dict[int, int]) -> int | None:
        """The fewest nodes of a tree of it, where the fewest of each sort are known; else none."""
        every = [least(t, costs) for t in self.terms]
        return None if None in every else 1 + sum(n for n in every if n is not None)


@dataclass(frozen=True)
class Family:
    sorts: int
    constructors: tuple[Constructor, ...]

    def of(self, sort: int) -> list[Constructor]:
        return [c for c in self.constructors if c.sort == sort]

    @property
    def costs(self) -> dict[int, int]:
        """The fewest nodes of a tree of each sort that has one."""
        found: dict[int, int] = {}
        for _ in range(self.sorts + 1):
            for s in range(self.sorts):
                known = [n for c in self.of(s) if (n := c.least(found)) is not None]
                if known:
                    found[s] = min(known)
        return found

    @property
    def text(self) -> str:
        """The classes, the signatures and the tables of sorts and terms."""
        letters = [f'X{s} = TypeVar("X{s}", covariant=True)' for s in range(self.sorts)]
        tags = [f"class T{s}: ..." for s in range(self.sorts)]
        every = range(self.sorts)
        unions = [f"S{s} = Union[{', '.join(c.name for c in self.of(s))}]" for s in every]
        sort = ", ".join(f"{c.name}: {c.sort}" for c in self.constructors)
        terms = ",\n    ".join(f"{c.name}: {c.terms!r}" for c in self.constructors)
        family = f"FAMILY = ({', '.join(f'S{s}' for s in every)})" if self.sorts > 1 else "FAMILY = S0"
        classes = "\n\n".join(map(self._class, self.constructors))
        tables = f"SORT = {{{sort}}}\nTERMS = {{\n    {terms}\n}}"
        return "\n".join([*letters, *tags, "", classes, "", *unions, family, tables])

    def _class(self, c: Constructor) -> str:
        used = sorted({s for term in c.terms for s in sorts(term)})
        places = [f"X{s}" if s in used else "Never" for s in range(self.sorts)]
        second = places[0] if self.sorts == 1 else f"tuple[{', '.join(places)}]" if used else "Never"
        generic = f", Generic[{', '.join(f'X{s}' for s in used)}]" if used else ""
        lines = [f"    {n}: {annotation(t)}" for n, t in c.fields] or ["    pass"]
        return "\n".join([f"class {c.name}(cdl.Base[T{c.sort}, {second}]{generic}):", *lines])


def annotation(term: Any) -> str:
    match term:
        case ("x", sort):
            return f"X{sort}"
        case ("many", sort):
            return f"cdl.Many[X{sort}]"
        case ("maybe", of):
            return f"{annotation(of)} | None"
        case ("list", of):
            return f"tuple[{annotation(of)}, ...]"
        case ("pair", parts):
            return f"tuple[{', '.join(map(annotation, parts))}]"
        case (_, of):
            return payloads.annotation(of)
    raise AssertionError(term)


def sorts(term: Any) -> Iterator[int]:
    """The sort of each place in a term."""
    match term:
        case ("x" | "many", sort):
            yield sort
        case ("maybe" | "list", of):
            yield from sorts(of)
        case ("pair", parts):
            for part in parts:
                yield from sorts(part)


def least(term: Any, costs: dict[int, int]) -> int | None:
    """The fewest nodes below a field."""
    match term:
        case ("x", sort):
            return costs.get(sort)
        case ("pair", parts):
            every = [least(p, costs) for p in parts]
            return None if None in every else sum(n for n in every if n is not None)
    return 0


def draw(rng: random.Random, x64: bool, *, many: bool = True, data: bool = True) -> Family:
    """A random family whose sorts all have finite trees. `many`: whether it may have a `Many`; `data`: all payloads."""
    count = rng.choices((1, 2, 3, 4), (5, 4, 2, 1))[0]
    every = 40 if many and rng.random() < 0.01 else None
    wide = rng.choice((62, 64, 70)) if many and rng.random() < 0.03 else None
    found = []
    for s in range(count):
        for i in range(every // count if every else rng.randint(1 + (s == 0), 3)):
            kinds = [_term(rng, count, x64, many, data) for _ in range(rng.randint(0, 3))]
            if i == 0:  # this one has finite trees
                kinds = [t for t in kinds if least(t, {}) is not None][:2]
            found.append([f"C{s}_{i}", s, kinds])
    if wide:
        # the last ones are a `Many` more often: 63 places fit in the bits of one integer
        kinds = [rng.choices(("x", "many"), (9, 1) if i < 60 else (1, 1))[0] for i in range(wide)]
        places = [(kind, rng.randrange(count)) for kind in kinds]
        found.append([f"C0_{len(found)}", 0, places])
    if all(least(t, {}) is not None for _, _, kinds in found for t in kinds):
        found[1][2].append(("x", rng.randrange(count)))
    if not every:  # a twin differs only in what the cells of its case close over
        some = [(n, s, k) for n, s, k in found if len(k) < 9 and any(list(sorts(t)) for t in k)]
        found += [[f"{n}t", s, k] for n, s, k in some if rng.random() < 0.25]
    return Family(count, tuple(Constructor(n, s, tuple((f"f{i}", t) for i, t in enumerate(k))) for n, s, k in found))


def _term(rng: random.Random, count: int, x64: bool, many: bool, data: bool, depth: int = 0) -> Any:
    kind = rng.choices(("x", "data", "maybe", "pair", "list", "many"), (4, 4, 2, 2, 2, 3))[0]
    again = lambda: _term(rng, count, x64, many, data, depth + 1)
    if (depth and kind == "data" and rng.random() < 0.6) or (depth > 1 and kind != "data"):
        kind = "x"
    if kind == "many" and not many:
        kind = "x"
    match kind:
        case "data":
            return "data", payloads.draw(rng, x64) if data else ("py", rng.choice(("float", "int")))
        case "x" | "many":
            return kind, rng.randrange(count)
        case "pair":
            parts = [again() for _ in range(rng.randint(1, 2))]
            return "pair", tuple(parts) if any(list(sorts(p)) for p in parts) else (("x", rng.randrange(count)), *parts)
        case _:
            of = again()
            return kind, of if list(sorts(of)) and of[0] != "maybe" else ("x", rng.randrange(count))
