"""The forms of lists and of machines, as text: one cell, read in each way.

| the form         | what it is beside                                                     |
| ---------------- | --------------------------------------------------------------------- |
| `seq`, `packed`  | `cata` over `to_list`, or over `to_snoc` from the start               |
| `prefixes`       | `annotate` of these: `cata` at each suffix or prefix                  |
| `run`, `run_seq` | a loop of the machine, Mealy's and Moore's                            |
"""

import random
from dataclasses import dataclass

from . import cells


CELL = """
class Net(cdl.Algebra[{signature}, Any]):
    w: Any
    cell: Any

    def next(self, x, h):
        w = self.w["w"]
        new = self.cell(w[0] * {state} + w[1] * number(x){cast}){cast}
        return {made}

    def __call__(self, layer):
        return {start} if isinstance(layer, cdl.{empty}) else self.next({parts})


LISTS = [{lists}]
ALGS = (Net(weights({seed}, ["w", "e"], "{dtype}"), {cell}),)
PARAMS = {{"algs": ALGS}}
"""
LISTS = '''
stack = lambda found: jax.tree.map(lambda *xs: jnp.stack(list(map(jnp.asarray, xs))), *found)
rows = lambda elements: jax.tree.map(lambda *xs: jnp.stack([jnp.asarray(x) for x in xs]), *elements)
nothing = jax.tree.map(lambda x: np.zeros((0, *jnp.shape(x)), jnp.asarray(x).dtype), LISTS[0][0])
DATA = cdl.{kind}.of([jax.tree.map(np.asarray, rows(xs)) if xs else nothing for xs in LISTS])
ENDS = {ends}


def parts(xs):
    """The lists whose values are wanted, of one list."""
    return [xs[i:] if ENDS else xs[: i + 1] for i in range(len(xs))] if {every} else [xs]


def read(net, xs):
    h = net(cdl.Nil() if ENDS else cdl.functors.Lin())
    for x in reversed(xs) if ENDS else xs:
        h = net(cdl.Cons(x, h) if ENDS else cdl.functors.Snoc(h, x))
    return h


def compiled(p):
    if not {every}:
        return cdl.fold(p["algs"][0], DATA)
    found = cdl.annotate(p["algs"][0], DATA)
    found = (found.padded() if isinstance(found, cdl.Packed) else found).values
    return stack([jax.tree.map(lambda x: x[b, i], found) for b, xs in enumerate(LISTS) for i in range(len(xs))])


def by_cdl(p):
    make = cdl.to_list if ENDS else cdl.functors.to_snoc
    return stack([cdl.cata(p["algs"][0])(make(some)) for xs in LISTS for some in parts(xs)])


def plain(p):
    return stack([read(p["algs"][0], some) for xs in LISTS for some in parts(xs)])
'''
RUN = """
stack = lambda found: jax.tree.map(lambda *xs: jnp.stack(list(map(jnp.asarray, xs))), *found)
rows = lambda elements: jax.tree.map(lambda *xs: jnp.stack([jnp.asarray(x) for x in xs]), *elements)
START = jax.tree.map(jnp.asarray, ALGS[0](cdl.Nil()))
AFTER = jax.eval_shape(lambda h: ALGS[0].next(LISTS[0][0], h), START)
START = jax.tree.map(lambda h, t: h.astype(t.dtype), START, AFTER)  # a state is of one type at all steps
DATA = cdl.Seq.of([jax.tree.map(np.asarray, rows(xs)) for xs in LISTS]) if {many} else None


class Machine(eqx.Module):
    net: Any

    def __call__(self, h):
        if {moore}:
            return cdl.MooreF(number(h), lambda x: self.net.next(x, h))
        return cdl.MealyF(lambda x: (number(x) + number(h), self.net.next(x, h)))


def compiled(p):
    machine = Machine(p["algs"][0])
    if {many}:
        starts = jax.tree.map(lambda x: jnp.stack([x] * len(LISTS)), START)
        found, last = cdl.run(machine, starts, DATA)
        return [[found.values[b, : len(xs) + {moore}] for b, xs in enumerate(LISTS)], last]
    return [*cdl.run(machine, START, rows(LISTS[0]))]


def loop(p, xs, read):
    state, found = START, []
    for x in xs:
        out, state = read(Machine(p["algs"][0]), state, x)
        found.append(out)
    return jnp.stack(found + [number(state)] * {moore}), state


def each(p, read):
    if {many}:
        found = [loop(p, xs, read) for xs in LISTS]
        return [[out for out, _ in found], stack([state for _, state in found])]
    return [*loop(p, LISTS[0], read)]


def plain(p):
    step = lambda m, h, x: (number(h) if {moore} else number(x) + number(h), m.net.next(x, h))
    return each(p, step)


def by_cdl(p):
    machine = Machine(p["algs"][0])
    def answers(xs):
        return jnp.stack(cdl.machines.respond(cdl.ana(machine)(START), xs))
    states = plain(p)
    return [[answers(xs) for xs in LISTS], states[1]] if {many} else [answers(LISTS[0]), states[1]]
"""
FORMS = ("seq", "packed", "prefixes", "packed_prefixes", "run", "run_seq")
ELEMENTS = ("float", "int", "vector", "dict", "bfloat16")
STATES = {  # the state of a value, the value of a state, and the value of no element
    "vector": ("h", "new", "self.w['e'][0]"),
    "pair": ("h[0]", "(new, h[1] + 1)", "(self.w['e'][0], 0)"),
    "scalar": ("(h * w[2])", "new[0]", "0.5"),
    "number": ("(h * w[2])", "new[0] + h", "0"),
}


@dataclass(frozen=True)
class Lists:
    """A cell, and lists for it."""

    dtype: str
    cell: str
    state: str
    elements: tuple[tuple[str, ...], ...]
    ends: bool
    moore: bool
    seed: int

    def text(self, form: str) -> str:
        state, made, start = STATES[self.state]
        lists = ", ".join(f"[{', '.join(xs)}]" for xs in self.elements if xs or not form.startswith("run"))
        cast = f'.astype("{self.dtype}")'
        first = CELL.format(
            signature="cdl.ListF" if self.ends or form.startswith("run") else "cdl.functors.SnocF",
            empty="Nil" if self.ends or form.startswith("run") else "functors.Lin",
            parts="layer.head, layer.tail" if self.ends else "layer.last, layer.init",
            state=state, made=made, start=start, cast=cast, lists=lists, seed=self.seed, dtype=self.dtype,
            cell=cells.text(self.cell, 3),
        )  # fmt: skip
        body = RUN if form.startswith("run") else LISTS
        for name, known in {
            "moore": self.moore, "many": form == "run_seq", "ends": self.ends, "every": "prefixes" in form,
            "kind": "Packed" if "packed" in form else "Seq",
        }.items():  # fmt: skip
            body = body.replace("{" + name + "}", str(known))
        return first + body


def draw(rng: random.Random, x64: bool, smooth: bool) -> Lists:
    dtype = rng.choice(("float64", "float64", "float32", "bfloat16") if x64 else ("float32", "float32", "bfloat16"))
    table = [*cells.FUNCTIONS, *cells.CONTROL, *(() if smooth else cells.FORWARD)]
    if dtype == ("float64" if x64 else "float32"):
        table += [c for c in cells.LAYERS if c != "Dropout"]
    if "16" in dtype:
        table = [c for c in table if c not in cells.JUMPS]
    kind = rng.choice(ELEMENTS)
    lists = [tuple(_element(rng, kind, dtype) for _ in range(n)) for n in (rng.randint(1, 4), rng.randint(0, 3), 1)]
    state = rng.choice(list(STATES))
    return Lists(
        dtype, rng.choice(table), state, tuple(lists), rng.random() < 0.5, rng.random() < 0.5,
        rng.randrange(10**6),
    )  # fmt: skip


def _element(rng: random.Random, kind: str, dtype: str) -> str:
    x = f"{rng.gauss(0, 1):.4f}"
    return {
        "float": f'jnp.array({x}, "{dtype}")', "int": f"jnp.array({rng.randint(-4, 4)})",
        "vector": f'jnp.array([{x}, 1.0], "{dtype}")', "bfloat16": f'jnp.array({x}, "bfloat16")',
        "dict": f'{{"a": jnp.array({x}, "{dtype}"), "n": jnp.array({rng.randint(0, 9)}, "uint8")}}',
    }[kind]  # fmt: skip
