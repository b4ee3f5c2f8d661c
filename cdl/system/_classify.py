"""What kind of system something is: which way its hierarchy goes, whether its parts talk, whether its wires change.

| the seed's table              | here, read off the structure                                                        |
| ----------------------------- | ----------------------------------------------------------------------------------- |
| hierarchy left to right       | it is a map, from inputs to what it makes of them                                   |
| hierarchy inside to outside   | it is a box around boxes                                                            |
| peer-to-peer messages         | values go from one part to another, not only up to the outside, and changes down    |
| a changeable pattern          | parameters that are learnt, or a diagram that depends on a state that changes       |

Source: D. Spivak, T. Hosgood, *Deep neural networks as nested dynamical systems*, 2021, the table of section 3.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax

from .._functors.words import short
from .._optics import ParaOptic
from ..errors import CdlError
from ..learning import Learner
from ._box import Box
from ._flow import Flow, traced
from ._listening import listen, TABLE, WIRED
from ._pattern import pattern
from ._rewired import Rewired
from ._system import System
from ._wired import Wired


HIDDEN = (
    "It multiplies data by arrays that it closes over: they may be weights, or wires of a graph, and learn or stay. "
    "Give the module that has them, or a `ParaOptic`."
)
LEFT, INSIDE = "left → right", "inside → outside"


class Classification(NamedTuple):
    """The row of a system: `hierarchy`, the directions in which it goes up, whether there are `peers` that talk,
    whether its pattern is `changeable`, and `why`, in sentences. `None` is for what its structure does not tell.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> boxes, wires = {"p": delay, "q": delay}, {"p.x": "x", "q.x": "x"}
        >>> apart = cdl.system.wire(boxes, wires, {"out": "q.out"}, inputs={"x": int})
        >>> cdl.system.classify(apart).peers
        False
    """

    hierarchy: tuple[str, ...]
    peers: bool | None
    changeable: bool | None
    why: tuple[str, ...]


def classify(x: Any, *inputs: Any) -> Classification:
    """Says how the parts of a system talk: in which direction they are nested, whether peers exchange messages, and
    whether the pattern of messages can change. These are the columns of a table in the literature, and `x` is a row.

    It looks at the diagram or the program, and not at names:

    - In a `Wired`, a wire from one box to another is a message, and a wire from a box to itself is a memory.
    - In a `Rewired`, there is a message where the input of one box is computed from the output of another, also when
      nothing comes from outside. An output that comes back only in proportion to an input from outside is feedback,
      such as the gradient that a layer passes to its cells. A message that is multiplied by an input from outside is
      too.
    - In a map, products with parameters are layers. Data times data is a message: attention, or a graph that is given
      as data. So are data times an array that is not a parameter, pairs of places such as `x[:, None] * x[None]`, and
      sums and look-ups by an index that is data. Loops and weight tying are not messages.

    The answer is `None` where the structure does not tell, and `why` has the reason. It cannot tell whether arrays
    that a function closes over are weights or fixed wires: give the module itself in the place of a lambda, and
    `equinox.filter_vmap` in that of `jax.vmap`. Nor can it tell whether data that are looked up by a fixed table hear
    of each other. It sees a weighted mean of places that is a product of matrices. It does not see one that is
    written as a product and a sum, since normalisations and plain means are written so too.

    The source of the table says that the parts of neural networks never talk to each other. `classify` finds the same
    for dense, convolutional and recurrent networks. For attention and graph networks it finds the opposite: `peers`
    is true.

    `managed` makes a system with fixed wires of one that rewires itself, and the answer for it is that of fixed
    wires. A graph among the floating arrays of a module counts as its parameters. A map of trees, such as `fold`,
    looks like a graph network.

    **Arguments:** `x`: a system, a `ParaOptic`, a learner, or a module or function. `inputs`: of a map, what it is
    called with, or arrays of that shape; not needed for a `ParaOptic` whose `source` is known.

    **Raises:** `CdlError` for anything else, and for a map without inputs.

    Examples:
        >>> ports = dict(inputs={"x": int}, outputs={"out": int})
        >>> delay = cdl.system.box(lambda s: cdl.MooreF({"out": s}, lambda i: i["x"]), 0, **ports)
        >>> boxes, wires = {"p": delay, "q": delay}, {"p.x": "x", "q.x": "p.out"}
        >>> twice = cdl.system.wire(boxes, wires, {"out": "q.out"}, inputs={"x": int})
        >>> kind = cdl.system.classify(twice)
        >>> kind.peers, kind.changeable
        (True, False)
    """
    match x:
        case Rewired():
            return _rewired(x)
        case Wired():
            return _wired(x)
        case Box() if x.inner:
            return classify(x.inner)
        case System():
            return Classification((), False, False, (f"`{x.name}` is one box: there is no diagram in it.",))
        case ParaOptic():
            given = inputs or (() if x.source is None else (x.source,))
            return _map(lambda params, x_: x.optic.get((params, x_)), x.params, given, told=True)
        case Learner():
            return _map(lambda state, data: x.optic.get((state, data)), x.state, inputs, told=True)
        case _ if callable(x):
            params, rest = eqx.partition(x, eqx.is_inexact_array)
            told = bool(jax.tree.leaves(params))
            return _map(lambda params, *given: eqx.combine(params, rest)(*given), params, inputs, told=told)
    raise CdlError(
        f"`classify` was given {short(x)}: give a system, a `ParaOptic`, a learner, or a module or function."
    )


def _map(fn: Callable[..., Any], params: Any, inputs: tuple[Any, ...], *, told: bool) -> Classification:
    """The row of a map. `told`: whether all of its parameters are known to be these."""
    if not inputs:
        raise CdlError("`classify` traces a map at its inputs, and was given none: give them after it.")
    closed, given = traced(fn, [params, *inputs])
    spread = [Flow.of(min(k, 1), x.shape, 2) for k, part in enumerate(given) for x in part]
    heard = listen(closed, spread, 2, [1])
    why = [f"It is a map with {len(given[0])} arrays of parameters: what it makes of its inputs is to the right."]
    certain = [words for words in heard.found if told or words != WIRED]
    hidden = len(certain) < len(heard.found)
    unsure = [HIDDEN] * hidden + [TABLE] * heard.table
    why += certain + unsure or [
        "Data meet parameters only: each part listens to those before it, and none to its peers."
    ]
    if heard.loops:
        why.append("It has a loop, by which values come again later: that is not a message to a peer.")
    if heard.tied:
        why.append("A convolution uses its weights at every place: tied weights are not a message.")
    learns = bool(given[0])
    if learns:
        why.append("Its parameters change as it learns.")
    elif not hidden:
        why.append("It has no parameters, so that nothing changes.")
    peers = True if certain else None if unsure else False
    return Classification((LEFT,), peers, None if hidden else learns, tuple(why))


def _wired(system: Wired) -> Classification:
    pairs = {target: source for target, source in system.wiring.ends.items() if source.box}
    talk = [f"A wire goes from `{a}` to `{b}`." for b, a in pairs.items() if a.box != b.box]
    why = [f"`{system.name}` is a box around {len(system.wiring.boxes)} boxes."]
    why += talk[:3] or ["No wire goes from a box to another."]
    if any(a.box == b.box for b, a in pairs.items()):
        why.append("A wire from a box to itself is a memory, no message to a peer.")
    inner = [classify(x) for x in system.boxes.values() if isinstance(x.machine, System)]
    changes = any(x.changeable for x in inner)
    why.append("The diagram is fixed." if not changes else "A box in it has a diagram that changes.")
    why += [words for x in inner for words in x.why]
    ways = (INSIDE, *(way for x in inner for way in x.hierarchy))
    return Classification(tuple(dict.fromkeys(ways)), bool(talk) or any(x.peers for x in inner), changes, tuple(why))


def _rewired(system: Rewired) -> Classification:
    found, inner = pattern(system), _wired(system.systems)
    why = [f"`{system.name}` is a box around {found.boxes} boxes, and its diagram is a map from what they show."]
    why += found.talk[:3] or ["Without an input from outside no box hears of another: there is feedback alone."]
    state = "depends on a state, and that changes" if found.changes else "does not depend on a state that changes"
    why.append(f"The diagram {state}.")
    if inner.peers or inner.changeable:
        why += inner.why
    peers, changeable = bool(found.talk) or inner.peers, found.changes or inner.changeable
    return Classification((INSIDE, LEFT), peers, changeable, tuple(why))
