"""The five cells of *Categorical Deep Learning*: each the same function as a loop written by hand, and trained.

Those that are not trained here are trained on a page, whose bounds are asserted there: waves and words written
backwards in `writing-lists.md`, a recogniser in `machines.md`, where the automaton that it has learnt is the true one.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest
from agreement import close
from few import few
from programs import constants, primitives

from cdl import ana, Automaton, cata, fold, Fork, Leaf, pack, Para, Seq, to_list, TreeF, unfold, unroll
from cdl.functors import take, to_snoc
from cdl.machines import respond
from cdl_arch.folding import bidirectional, elman, FromEnd, gru, horner, lstm
from cdl_arch.mealy import FullRNN, sums
from cdl_arch.moore import every_word, Recogniser
from cdl_arch.recursive import child_sum, gated, n_ary, nand_circuits, tree_rnn
from cdl_arch.train import train
from cdl_arch.unfolding import Decoder, generator, Seq2Seq


FOLDING = {"elman": elman, "gru": gru, "lstm": lstm}
NETS = {"tree_rnn": tree_rnn, "child_sum": child_sum, "n_ary": n_ary, "gated": gated}
WIDTH = 4


def value_and_slope(f, *inputs):
    """A function's value, and the gradient in its floating inputs of a random linear function of it."""

    def total(inputs):
        value = f(*inputs)
        weights = [np.random.default_rng(0).normal(size=x.shape) for x in jax.tree.leaves(value)]
        return sum(jnp.sum(x * w) for x, w in zip(jax.tree.leaves(value), weights, strict=True)), value

    (_, value), slope = eqx.filter_jit(eqx.filter_value_and_grad(total, has_aux=True))(inputs)
    return value, slope


def agree(ours, by_hand, *inputs, tolerance=1e-10):
    (value, slope), (expected, wanted) = value_and_slope(ours, *inputs), value_and_slope(by_hand, *inputs)
    close(value, expected, tolerance)
    close(slope, wanted, 10 * tolerance)


def loop(algebra, words, lengths, *, back=False):
    """Each list read by hand."""
    states = []
    for word, n in zip(words, lengths, strict=True):
        state = algebra.init
        for element in reversed(word[:n]) if back else word[:n]:
            state = algebra.cell(element, state)
        states.append(state)
    return jax.tree.map(lambda *xs: jnp.stack(xs), *states)


def spelled(writer, state, word, begin):
    """The log-probability of a word that is written letter by letter, by hand."""
    last, total = begin, 0.0
    for letter in [*word, begin]:
        state = writer.cell(writer.letters.weight[last], state)
        total += jax.nn.log_softmax(writer.scores(state))[letter]
        last = letter
    return total


def learnt(model, batch, loss, steps, rate):
    """The model after so many steps on one batch, and the loss then."""
    ran = train(
        model,
        lambda epoch: [batch] * steps,
        loss,
        lambda model: 0.0,
        optimiser=optax.adam(rate),
        epochs=1,
        key=jr.key(0),
        progress=False,
    )
    return ran.model, float(loss(ran.model, batch, jr.key(0)))


def test_every_cell_gives_what_its_type_says():
    """`P × F S → S` and `P × S → F S`, and the whole of each: by shapes alone, those of the parameters too."""
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    key, vector = jr.key(0), f32(WIDTH)
    reads = lambda make: lambda words: fold(make(3, WIDTH, key=key), Seq(words, [5, 3]))
    both = lambda words: bidirectional(3, WIDTH, key=key)(Seq(words, [5, 3])).values

    def of_tree(name):
        def whole(label):
            net = NETS[name](TreeF, WIDTH, payload={Leaf: 3}, key=key)
            return jax.tree.leaves(net(Fork(net(Leaf(label)), net(Leaf(label)))))

        return whole

    for form, inputs, outputs in [
        (reads(elman), [f32(2, 5, 3)], f32(2, WIDTH)),
        (reads(lstm), [f32(2, 5, 3)], (f32(2, WIDTH), f32(2, WIDTH))),
        (both, [f32(2, 5, 3)], f32(2, 5, 2 * WIDTH)),
        (lambda states: unfold(generator(WIDTH, key=key), states, 6), [f32(2, WIDTH)], f32(2, 6)),
        *((of_tree(name), [f32(3)], [vector] * (2 if i else 1)) for i, name in enumerate(NETS)),
        (lambda word: FullRNN(3, WIDTH, 2, key=key).answers(word), [f32(5, 3)], f32(5, 2)),
    ]:
        assert jax.eval_shape(form, *inputs) == outputs


@pytest.mark.parametrize(("name", "back"), [("elman", False), ("gru", True), ("lstm", False)])
def test_a_folding_network_is_a_loop_over_each_list(name, back, getkey):
    with jax.enable_x64(True):
        net = FOLDING[name](3, WIDTH, dtype=jnp.float64, key=getkey())
        net = FromEnd(net.init, net.cell) if back else net
        net = jax.tree.map(lambda x: x + 0.1 if eqx.is_inexact_array(x) else x, net)  # a first state that is not zero
        words, lengths = jr.normal(getkey(), (3, 4, 3), jnp.float64), [4, 0, 2]
        ours = lambda net, words: fold(net, Seq(words, jnp.array(lengths)))
        agree(ours, lambda net, words: loop(net, words, lengths, back=back), net, words)


def test_a_bidirectional_network_has_what_was_read_from_both_ends(getkey):
    with jax.enable_x64(True):
        net = bidirectional(3, WIDTH, dtype=jnp.float64, key=getkey())
        words = jr.normal(getkey(), (1, 4, 3), jnp.float64)
        prefixes = lambda net, words: loop(net.forth, [words[0]] * 4, [1, 2, 3, 4])
        suffixes = lambda net, words: loop(net.back, [words[0, t:] for t in range(4)], [4, 3, 2, 1], back=True)
        by_hand = lambda net, words: jnp.concatenate([prefixes(net, words), suffixes(net, words)], 1)[None]
        agree(lambda net, words: net(Seq(words, [4])).values, by_hand, net, words)


def tied_and_untied(algebra, tree, compiled=None):
    """The gradient of the tied network is the sum of the untied one's, and so is the compiled fold's."""
    total = lambda value: sum(jnp.sum(jnp.sin(x)) for x in jax.tree.leaves(value))
    untied = unroll(Para.of(algebra), tree)
    each = eqx.filter_grad(lambda params: total(untied.at(params)))(untied.params)
    summed = jax.tree.map(lambda *xs: sum(xs), *each)
    close(eqx.filter_grad(lambda algebra: total(cata(algebra)(tree)))(algebra), summed, 1e-9)
    if compiled is not None:
        slope = eqx.filter_grad(lambda algebra: total(compiled(algebra)))(algebra)
        close(eqx.filter(slope, eqx.is_array), summed, 1e-9)


@pytest.mark.parametrize("name", ["elman", "lstm"])
def test_the_gradient_of_a_folding_network_is_the_sum_over_its_copies(name, getkey):
    with jax.enable_x64(True):
        forth = FOLDING[name](3, WIDTH, dtype=jnp.float64, key=getkey())
        word = jr.normal(getkey(), (3, 3), jnp.float64)
        tied_and_untied(forth, to_snoc(list(word)), lambda net: fold(net, Seq(word[None], [3])))
        back = FromEnd(forth.init, forth.cell)
        tied_and_untied(back, to_list(list(word)), lambda net: fold(net, Seq(word[None], [3])))


def program_of(f, net):
    """What goes into the program of a function of a network, the weights built into it, and all that it does."""
    arrays, rest = eqx.partition(net, eqx.is_inexact_array)
    program = jax.make_jaxpr(lambda arrays: f(eqx.combine(arrays, rest)))(arrays)
    shapes = [x.shape for x in jax.tree.leaves(arrays)]
    inside = [c for c in constants(program) if jnp.shape(c) in shapes and jnp.issubdtype(c.dtype, jnp.inexact)]
    assert [v.aval.shape for v in program.jaxpr.invars] == shapes
    assert inside == []
    return primitives(program)


def gradient(f):
    return eqx.filter_grad(lambda net: sum(x.sum() for x in jax.tree.leaves(f(net))))


@pytest.mark.parametrize("form", [lambda f: f, gradient], ids=["fold", "gradient"])
def test_a_program_uses_each_weight_as_often_whatever_the_size(form, getkey):
    net = gru(3, WIDTH, key=getkey())
    compiled = lambda time: program_of(form(lambda net: fold(net, Seq(jnp.zeros((1, time, 3)), [time]))), net)
    assert compiled(5) == compiled(32)
    assert compiled(5)["dot_general"] > 0
    unrolled = lambda time: program_of(form(lambda net: cata(net)(to_snoc([jnp.zeros(3)] * time))), net)
    assert unrolled(10)["dot_general"] > 1.5 * unrolled(5)["dot_general"]  # the count sees a loop written out


@pytest.mark.parametrize("name", ["n_ary", *(pytest.param(n, marks=pytest.mark.slow) for n in NETS if n != "n_ary")])
def test_a_program_of_trees_uses_each_weight_as_often_whatever_the_size(name, getkey):
    net = NETS[name](TreeF, WIDTH, payload={Leaf: 3}, key=getkey())
    leaf = Leaf(jnp.ones(3))
    chain = leaf
    for _ in range(20):
        chain = Fork(chain, leaf)
    bucket = pack(TreeF, [chain]).bucket
    compiled = lambda tree: program_of(gradient(lambda net: fold(net, pack(TreeF, [tree], bucket=bucket))), net)
    assert compiled(Fork(leaf, leaf)) == compiled(chain)
    assert compiled(chain)["dot_general"] > 0


def test_a_generator_is_a_loop_of_its_two_maps(getkey):
    with jax.enable_x64(True):
        net = jax.tree.map(lambda x: x.astype(jnp.float64) if eqx.is_array(x) else x, generator(WIDTH, key=getkey()))
        seeds = jr.normal(getkey(), (2, WIDTH), jnp.float64)

        def by_hand(net, seeds):
            states, shown = seeds, []
            for _ in range(5):
                shown.append(jax.vmap(net.out)(states))
                states = jax.vmap(net.next)(states)
            return jnp.stack(shown, 1)

        agree(lambda net, seeds: unfold(net, seeds, 5), by_hand, net, seeds)
        close(jnp.stack(take(5, ana(net)(seeds[0]))), by_hand(net, seeds)[0], 1e-10)


def test_a_decoder_gives_the_probability_of_what_it_grows(getkey):
    net, states = Decoder(3, WIDTH, key=getkey()), jr.normal(getkey(), (2, WIDTH))
    begin = jnp.full(2, net.begin, jnp.int32)
    grown = unfold(net, (states, begin), 30, key=getkey())
    assert not grown.cut.any()
    close(net.log_prob(states, grown.elements), grown.log_prob.sum(1), 1e-4)

    lengths = grown.elements.lengths.tolist()
    words = [row[:n].tolist() for row, n in zip(np.asarray(grown.elements.values), lengths, strict=True)]

    def by_hand(net, states):
        each = zip(states, words, strict=True)
        return jnp.stack([spelled(net, state, word, net.begin) for state, word in each])

    ours = lambda net, states: net.log_prob(states, grown.elements)
    agree(ours, by_hand, net, states, tolerance=1e-4)


def test_a_sequence_to_sequence_network_is_a_fold_and_then_an_unfold(getkey):
    net, read, written = Seq2Seq(3, WIDTH, key=getkey()), [0, 2], [1]

    def by_hand(net):
        state = net.reader.init
        for letter in read:
            state = net.reader.cell(net.letters.weight[letter], state)
        return spelled(net.writer, state, written, net.writer.begin)[None]

    ours = lambda net: net.log_prob(Seq(jnp.array([read]), [2]), Seq(jnp.array([written]), [1]))
    agree(ours, by_hand, net, tolerance=1e-5)


def test_what_a_sequence_to_sequence_network_writes_has_the_probability_that_it_says(getkey):
    net, given = Seq2Seq(3, WIDTH, key=getkey()), Seq(jnp.array([[0, 2, 1], [2, 0, 0]]), [3, 1])
    drawn = net.write(given, 60, key=getkey())
    assert not drawn.cut.any()
    close(net.log_prob(given, drawn.elements), drawn.log_prob.sum(1), 1e-4)

    best = net.write(given, 12)  # which may be cut: the first letter is there
    for row, length, first in zip([[0, 2, 1], [2]], best.elements.lengths, best.elements.values[:, 0], strict=True):
        state = net.reader.init
        for letter in row:
            state = net.reader.cell(net.letters.weight[letter], state)
        state = net.writer.cell(net.writer.letters.weight[net.writer.begin], state)
        likeliest = int(jnp.argmax(net.writer.scores(state)))
        assert int(length) == 0 if likeliest == net.writer.begin else int(first) == likeliest


def test_a_full_network_is_a_loop_that_answers(getkey):
    with jax.enable_x64(True):
        net = FullRNN(2, WIDTH, 3, dtype=jnp.float64, key=getkey())
        word = jr.normal(getkey(), (5, 2), jnp.float64)

        def by_hand(net, word):
            state, answers = net.init, []
            for given in word:
                state = net.cell(given, state)
                answers.append(net.read(state))
            return jnp.stack(answers)

        agree(lambda net, word: net.answers(word), by_hand, net, word)
        close(jnp.stack(respond(ana(net)(net.init), list(word))), by_hand(net, word), 1e-10)


def test_a_moore_network_answers_before_each_letter_and_at_the_end(getkey):
    net, word = Recogniser(2, WIDTH, key=getkey()), jnp.array([1, 0, 0, 1])

    def by_hand(net):
        state, odds = net.start, [net.read(net.start)]
        for letter in word:
            state = net.cell(net.letters(letter), state)
            odds.append(net.read(state))
        return jnp.stack(odds)

    agree(lambda net: net.odds(word), by_hand, net, tolerance=1e-5)


@pytest.mark.parametrize(
    ("cell", "steps"),
    [(gru, 100), pytest.param(elman, 300, marks=pytest.mark.slow), pytest.param(lstm, 200, marks=pytest.mark.slow)],
)
def test_the_value_of_a_binary_fraction_is_a_fold_and_is_learnt(cell, steps):
    words, values = horner(128, 8, key=jr.key(2))
    by_definition = FromEnd(jnp.zeros(()), lambda bit, rest: (bit[0] + rest) / 2)
    close(fold(by_definition, words), values, 1e-6)
    shown = lambda state: state[0] if isinstance(state, tuple) else state
    loss = lambda net, batch, key: jnp.mean((jax.vmap(net[1])(shown(fold(net[0], batch[0]))) - batch[1]) ** 2)
    net = cell(1, 12, key=jr.key(0)), eqx.nn.Linear(12, "scalar", key=jr.key(1))
    assert learnt(net, (words, values), loss, steps, 2e-2)[1] < 3e-3 < 0.05 < float(jnp.var(values))


@pytest.mark.parametrize("name", few(["n_ary", "tree_rnn", "gated", "child_sum"], 1))
def test_what_comes_out_of_circuits_is_a_fold_and_is_learnt(name):
    trees, bits = nand_circuits(64, 3, key=jr.key(0))
    assert 0.3 < float(bits.mean()) < 0.8
    shown = lambda state: state if name == "tree_rnn" else state.hidden
    loss = lambda net, batch, key: optax.sigmoid_binary_cross_entropy(
        jax.vmap(net[1])(shown(fold(net[0], batch[0]))), batch[1]
    ).mean()
    net = NETS[name](TreeF, 8, payload={Leaf: 1}, key=jr.key(1)), eqx.nn.Linear(8, "scalar", key=jr.key(2))
    assert learnt(net, (pack(TreeF, trees), bits), loss, 150, 2e-2)[1] < 0.05


def test_every_word_of_so_many_letters_has_its_prefixes_told():
    ends_with_b = Automaton([[0, 1], [0, 1]], [False, True])
    words, belongs = every_word(ends_with_b, 3)
    assert words.shape == (8, 3)
    assert len({tuple(word) for word in words.tolist()}) == 8
    assert jnp.array_equal(belongs, jnp.concatenate([jnp.zeros((8, 1), bool), words == 1], 1))


def test_adding_is_learnt_and_carries_on_beyond_the_lengths_learnt():
    def loss(net, batch, key):
        return jnp.mean(optax.sigmoid_binary_cross_entropy(jax.vmap(net.answers)(batch[0]), batch[1]))

    net, reached = learnt(FullRNN(2, 12, "scalar", key=jr.key(1)), sums(64, 8, key=jr.key(0)), loss, 200, 2e-2)
    assert reached < 0.02
    pairs, answers = sums(50, 40, key=jr.key(5))
    assert jnp.mean((jax.vmap(net.answers)(pairs) > 0) == (answers > 0.5)) > 0.97
