"""Cases: what is drawn for one comparison, and the program that it stands for."""

import functools
import inspect
import random
import re
from dataclasses import dataclass, replace

from . import algebras, cells, families, forms, growth, helpers, lists, parts, trees, yardstick
from .algebras import Algebra
from .families import Family
from .lists import Lists
from .trees import Node


HEAD = """
import functools
from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import jaxtyping
import numpy as np
from returns.result import Success

import cdl
"""
TAIL = """
for name, by, f in (
    ("compiled", COMPILED, compiled),
    ("by cdl's definition", DEFINED, by_cdl),
    ("by plain recursion", DEFINED, plain),
):
    try:
        print(name, by(f)(PARAMS), sep="\\n  ")
    except Exception as e:
        print(name, f"raises {type(e).__name__}: {e}", sep="\\n  ")
"""
TRANSFORMS = ("value", "gradient", "jitted", "mapped", "pushed", "curved")
LEFT = {  # what a form does not have
    "pushed": {"shard", "remat", "inherit", "inherit_values", "unfold", "unfold_key", "follow", "refold", *lists.FORMS},
    "curved": {"shard", "inherit", "inherit_values", "unfold", "unfold_key", "follow", "refold", *lists.FORMS},
    "mapped": {"unfold", "unfold_key", "refold", "shard", "run_seq"},
    "jitted": {"unfold", "unfold_key"},
    "value": {"remat"},
}
LISTED = (yardstick, helpers, parts)


@dataclass(frozen=True)
class Case:
    """A form, what is done with it, and what it reads. `order`: of the trees in a batch of a corpus. `double`: whether
    every number is one of double precision."""

    form: str
    transform: str
    x64: bool
    family: Family
    algebra: Algebra
    trees: tuple[Node, ...]
    lists: Lists | None = None
    order: tuple[int, ...] = ()
    double: bool = False

    @property
    def body(self) -> str:
        """The program without its imports and its settings."""
        text = self._of_lists() if self.lists else self._of_trees()
        as_one = self.transform == "jitted" or self.form == "shard"
        text += f"\nTRANSFORM = {'value' if self.transform == 'jitted' else self.transform}\n"
        grows = self.form in ("unfold", "unfold_key", "refold")
        jitted = "lambda f: eqx.filter_jit(TRANSFORM(f))"
        text += f"COMPILED = {jitted if as_one else 'TRANSFORM'}\n"
        text += f"DEFINED = {'TRANSFORM' if grows else jitted}  # several times as fast\n"
        text = _with_parts(text)
        return re.sub("b?float(16|32)", "float64", text).replace("complex64", "complex128") if self.double else text

    @property
    def program(self) -> str:
        """A program that prints the three results."""
        used = [line for line in HEAD.strip().splitlines()]
        wide = [] if not self.x64 else ['jax.config.update("jax_enable_x64", True)']
        return "\n".join([*used, "", *wide, self.body, TAIL])

    @property
    def nodes(self) -> int:
        return sum(1 for t in self.trees for _ in trees.nodes(t))

    @property
    def coarsest(self) -> str:
        """The type with the fewest digits of those that its numbers go through."""
        if self.double:
            return "float64"
        given = [self.lists.dtype, *map(str, self.lists.elements)] if self.lists else [*self.algebra.dtypes]
        text = " ".join(given if self.lists or self.transform == "value" else [*given, self.family.text])
        narrow = next((d for d in ("bfloat16", "float16", "float32") if d in text), None)
        small = any(word in self.family.text for word in ("int", "bool"))  # which `number` reads as float32
        return narrow or ("float64" if self.x64 and not small else "float32")

    def _of_trees(self) -> str:
        terms = {c.name: c.terms for c in self.family.constructors}
        listed = ",\n    ".join(t.text(terms) for t in self.trees)
        given = f"TREES = [\n    {listed},\n]"
        smooth = self.transform in ("gradient", "curved", "pushed")
        if self.form in growth.FORMS:
            form = growth.text(self.form, self.family, self.trees, self.algebra, smooth)
        else:
            form = forms.text(self.form, self.family, self.algebra, self.order, self.transform == "pushed")
        if smooth and self.form not in ("shard", "refold", "unfold", "unfold_key"):
            form += '\nPARAMS["s"] = jnp.zeros(())'
        return "\n\n".join([self.family.text, self.algebra.text(self.family), given, form])

    def _of_lists(self) -> str:
        assert self.lists is not None
        return self.lists.text(self.form)


@functools.cache
def _definitions() -> dict[str, str]:
    """What the texts name, and its source."""
    every: dict[str, str] = {}
    for module in LISTED:
        own = {n: f for n, f in vars(module).items() if callable(f) and inspect.getmodule(f) is module}
        every |= {n: inspect.getsource(f) for n, f in own.items()}
    return every


def _with_parts(text: str) -> str:
    """The text below the definitions that it names, and those that these name."""
    every = _definitions()
    needed: list[str] = []
    todo = [text]
    while todo:
        words = set(re.findall(r"\w+", todo.pop()))
        for name in every.keys() & words - set(needed):
            needed.append(name)
            todo.append(every[name])
    return "\n\n".join(["D = 3", *(every[n] for n in every if n in needed), text])


def draw(rng: random.Random) -> list[Case]:
    """Some cases of one family, and of lists."""
    x64 = rng.random() < 0.5
    if rng.random() < 0.12:
        return [_of_lists(rng, x64, form) for form in rng.sample(lists.FORMS, 2)]
    grows = rng.random() < 0.25
    family = families.draw(rng, x64, many=not grows or rng.random() < 0.3, data=not grows)
    found = [_of_trees(rng, x64, family, form, transform) for form, transform in _wanted(rng, grows)]
    return found


def _wanted(rng: random.Random, grows: bool) -> list[tuple[str, str]]:
    pairs = [("fold", "value")]
    for form in rng.choices(forms.FORMS, (5, 2, 1, 1, 1, 1, 2, 2), k=1) + rng.sample(growth.FORMS, 2 * grows):
        pairs.append((form, allowed(rng, form)))
    return pairs


def allowed(rng: random.Random, form: str) -> str:
    """Something that can be done with a form."""
    fitting = [t for t in TRANSFORMS if form not in LEFT.get(t, set())]
    return rng.choices(fitting, [3 if t in ("value", "gradient") else 1 for t in fitting])[0]


def _of_trees(rng: random.Random, x64: bool, family: Family, form: str, transform: str) -> Case:
    smooth = transform in ("gradient", "curved", "pushed", "mapped") or form in ("follow", "unfold", "shard", "remat")
    algebra = algebras.draw(rng, family, x64, smooth=smooth)
    if form in (*growth.FORMS, "inherit", "inherit_values"):
        own = {p: c for p, c in algebra.cells.items() if c not in cells.KEYED}
        inner = {p: c for p, c in algebra.inner.items() if c not in cells.KEYED}
        algebra = replace(algebra, keyed=False, cells=own, inner=inner)
    drawn = trees.Draw(family, rng)
    sorts = [rng.randrange(family.sorts) for _ in range(rng.randint(1, 9))]
    wide = [c for c in family.constructors if (c.least(family.costs) or 0) > 16]
    some = tuple(drawn.tree(s, rng.choice((1, 3, 8, 16))) for s in sorts)
    some += tuple(node for c in wide for node in drawn.pair(c, 90))
    order = tuple(rng.sample(range(len(some)), len(some))) + tuple(rng.choices(range(len(some)), k=2))
    return Case(form, transform, x64, family, algebra, some, None, order)


def _of_lists(rng: random.Random, x64: bool, form: str) -> Case:
    transform = allowed(rng, form)
    drawn = lists.draw(rng, x64, transform in ("gradient", "mapped"))
    nothing = Family(1, ())
    return Case(form, transform, x64, nothing, Algebra("float", ("float32",), ("plain",)), (), drawn)
