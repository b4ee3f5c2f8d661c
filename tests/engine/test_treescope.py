"""What treescope makes of forests, sequences and grown trees: it shows an `eqx.Module` by its fields."""

import jax
import jax.numpy as jnp
import pytest

from cdl import choose, Cons, Corpus, Fork, Leaf, Many, Nil, pack, Seq, TreeF, unfold


treescope = pytest.importorskip("treescope")

FOREST = pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0)), Leaf(3.0)])
SHOWN = {
    "Forest": FOREST,
    "Forest(payload=(None,)": FOREST.schedule,
    "Corpus of `A + X²`: 1 tree": Corpus(TreeF, [Leaf(1.0)]),
    "Seq": Seq.of([jnp.ones((2, 3)), jnp.ones((1, 3))]),
    "Grown": unfold(lambda s: choose(jnp.zeros(2), Leaf(s), Fork(s, s)), jnp.ones(2), nodes=3),
    "Lists": unfold(lambda s: choose(jnp.zeros(2), Nil(), Cons(s, s)), jnp.ones(2), nodes=3),
    "Fork(left=Leaf(label=1.0)": Fork(Leaf(1.0), Leaf(2.0)),
    "Many": Many([1, 2]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("words", SHOWN)
def test_a_value_is_shown(words):
    text = treescope.render_to_text(SHOWN[words])
    assert "".join(words.split()) in "".join(text.split())
    assert treescope.render_to_html(SHOWN[words])


@pytest.mark.filterwarnings("ignore")
def test_others_of_a_forest_s_structure_are_shown():
    for change in (lambda x: None, lambda x: jnp.stack([x, x])):
        assert "Forest" in treescope.render_to_text(jax.tree.map(change, FOREST))
