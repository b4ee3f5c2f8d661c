"""Tree networks, derived for any signature of one sort: a cell for each constructor, by its arity.

| the network        | one layer                                                             | its carrier             |
| ------------------ | --------------------------------------------------------------------- | ----------------------- |
| `tree_rnn`         | `tanh` of one linear map of all children                              | a vector                |
| `child_sum`        | the Tree-LSTM that sums its children, and has a gate to forget each   | `State(hidden, memory)` |
| `n_ary`            | the Tree-LSTM whose gates see every child at its place                | `State(hidden, memory)` |
| `gated`            | the same with a cell for each constructor and not for each arity      | `State(hidden, memory)` |

Each is a `TreeNet`: an algebra, so it is read by `cata`, `fold` and `decorate` as any other. The functor says which
cells there are; what a cell is like is said once. `nand_circuits` has data to learn from: trees of gates, and what
comes out of them, which is a fold itself. For a signature at hand, the algebra can as well be written out:

```python
import cdl, equinox as eqx, jax.numpy as jnp, jax.random as jr


class Rnn(cdl.Algebra[cdl.TreeF[float, jnp.ndarray], jnp.ndarray]):
    leaf: eqx.nn.Linear
    fork: eqx.nn.Linear

    def __call__(self, layer):
        match layer:
            case cdl.Leaf(label):
                return self.leaf(jnp.asarray([label]))
            case cdl.Fork(left, right):
                return jnp.tanh(self.fork(jnp.concatenate([left, right])))


rnn = Rnn(eqx.nn.Linear(1, 4, key=jr.key(0)), eqx.nn.Linear(8, 4, key=jr.key(1)))
assert cdl.cata(rnn)(cdl.Fork(cdl.Leaf(1.0), cdl.Leaf(2.0))).shape == (4,)
```

```python
class TreeLSTM(cdl.Algebra[cdl.LabelledTreeF[jnp.ndarray, tuple], tuple]):
    gates: eqx.nn.Linear

    def __call__(self, layer):
        match layer:
            case cdl.Tip():
                return jnp.zeros(4), jnp.zeros(4)
            case cdl.Branch(label, (h, c), (k, d)):
                i, o, f, g, u = jnp.split(self.gates(jnp.concatenate([label, h, k])), 5)
                i, o, f, g = map(jax.nn.sigmoid, (i, o, f, g))
                c = i * jnp.tanh(u) + f * c + g * d
                return o * jnp.tanh(c), c


import jax

lstm = TreeLSTM(eqx.nn.Linear(3 + 8, 20, key=jr.key(0)))
tree = cdl.Branch(jnp.ones(3), cdl.Branch(jnp.ones(3), cdl.Tip(), cdl.Tip()), cdl.Tip())
hidden, memory = cdl.cata(lstm)(tree)
```

and a network of the rose tree sums its children whatever their number:

```python
class Sums(cdl.Algebra[cdl.RoseF[jnp.ndarray, jnp.ndarray], jnp.ndarray]):
    label: eqx.nn.Linear
    kids: eqx.nn.Linear

    def __call__(self, layer):
        return jnp.tanh(
            self.label(layer.label) + layer.kids.map(self.kids).sum(jnp.zeros(4))
        )


sums = Sums(eqx.nn.Linear(3, 4, key=jr.key(0)), eqx.nn.Linear(4, 4, key=jr.key(1)))
many = cdl.Node(jnp.ones(3), cdl.Many([cdl.Node(jnp.ones(3), cdl.Many())] * 3))
assert cdl.cata(sums)(many).shape == (4,)
```
"""

# isort: off
from ._derive import Architecture as Architecture
from ._layer import Arity as Arity, arity_of as arity_of
from ._named import Named as Named
from ._net import State as State, TreeNet as TreeNet
from ._rnn import tree_rnn as tree_rnn
from ._n_ary import n_ary as n_ary, gated as gated
from ._child_sum import child_sum as child_sum
from ._circuits import nand as nand, nand_circuits as nand_circuits
