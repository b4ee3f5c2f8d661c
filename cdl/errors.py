"""What cdl raises: one small family, every member a `ValueError`.

| the error            | what was asked for and not had                                      |
| -------------------- | ------------------------------------------------------------------- |
| `SignatureError`     | annotations that spell a functor                                    |
| `ForeignLayer`       | a layer of the signature in question                                |
| `CarrierMismatch`    | an algebra: the same carrier out as in, for every constructor       |
| `PayloadMismatch`    | payloads of one shape and type in every node of a constructor       |
| `LengthMismatch`     | lengths of sequences that fit the data                              |
| `IndexMismatch`      | numbers of trees that there are                                     |
| `PortMismatch`       | what comes out of one optic, and goes into the next                 |
| `TreeTooLarge`       | a finite tree, within the bound that was set                        |
| `CheckpointError`    | a file that says what it should, whole and unchanged                |
| `LawBroken`          | a law that holds of the instance given                              |
"""


class CdlError(ValueError):
    """What was given does not have the structure that was asked for.

    Examples:
        >>> cdl.pack(cdl.TreeF, [3])
        Traceback (most recent call last):
            ...
        cdl.errors.ForeignLayer: an `int` stands where a constructor of `Tree` (Leaf, Fork) belongs: in
        tree 0, at the root.
        >>> (
        ...     isinstance(cdl.errors.SignatureError("…"), cdl.CdlError),
        ...     issubclass(cdl.CdlError, ValueError),
        ... )
        (True, True)
    """


class SignatureError(CdlError, TypeError):
    """Annotations that do not spell a functor, or sorts in another order than their family's.

    Examples:
        >>> cdl.functor(int)
        Traceback (most recent call last):
            ...
        cdl.errors.SignatureError: `<class 'int'>` is not a constructor: each summand of a signature is
        a class that extends `Base[T, X]`.
    """


class ForeignLayer(CdlError, TypeError):
    """A value that is not a layer of the signature in question.

    Examples:
        >>> cdl.pack(cdl.TreeF, [cdl.functors.Zero()])
        Traceback (most recent call last):
            ...
        cdl.errors.ForeignLayer: `Zero` of `Nat` is not a constructor of `Tree` (Leaf, Fork): in tree 0,
        at the root.
    """


class CarrierMismatch(CdlError):
    """A would-be algebra returned something other than its carrier.

    Examples:
        >>> wrong = cdl.algebra(lambda layer: 1 if isinstance(layer, cdl.functors.Zero) else None)
        >>> cdl.cata(wrong)(cdl.functors.Succ(cdl.functors.Zero()))
        Traceback (most recent call last):
            ...
        cdl.errors.CarrierMismatch: `<lambda>` gives nothing for `Succ`: its `match` has no case for it,
        or the case returns nothing. Return a value of the carrier for every constructor.
    """


class PayloadMismatch(CdlError):
    """The payloads of one constructor differ in shape, or are not numbers.

    Examples:
        >>> cdl.pack(cdl.TreeF, [cdl.Leaf("a word")])
        Traceback (most recent call last):
            ...
        cdl.errors.PayloadMismatch: `Leaf.label` holds a `str`, and a packed payload is a number or an
        array: number the values, as `Vocabulary.of(trees).encode(tree)` of `cdl.trees` does for texts.
    """


class LengthMismatch(CdlError):
    """Lengths of sequences that are not whole numbers, or do not fit the data.

    Examples:
        >>> cdl.Seq(jnp.zeros((1, 2)), [3])
        Traceback (most recent call last):
            ...
        cdl.errors.LengthMismatch: list 0 has length 3, and the arrays have 2 elements: the length is
        too great, or `values` was cut.
    """


class IndexMismatch(CdlError, IndexError):
    """Numbers of trees, or a mask, that do not fit a forest or a corpus.

    Examples:
        >>> forest = cdl.pack(cdl.TreeF, [cdl.Leaf(1), cdl.Leaf(2)])
        >>> forest.nodes(2)
        Traceback (most recent call last):
            ...
        cdl.errors.IndexMismatch: trees are numbered from 0 to 1; 2 was asked for.
    """


class PortMismatch(CdlError, TypeError):
    """What one optic gives is not what the next takes; or what a model gives, and its loss.

    Examples:
        >>> wide, narrow = (cdl.ParaOptic.of(jnp.sin, source=(n,)) for n in (3, 2))
        >>> wide >> narrow
        Traceback (most recent call last):
            ...
        cdl.errors.PortMismatch: `sin` cannot follow `sin`: what comes is f32[3], and what it takes is
        f32[2]. Put a layer from the one to the other between them, or change one of the two.
    """


class TreeTooLarge(CdlError):
    """A tree that is cyclic, or that has more nodes, once sharing is expanded, than the bound.

    Examples:
        >>> cdl.pack(cdl.functors.NatF, [cdl.functors.Succ(cdl.functors.Zero())], max_nodes=1)
        Traceback (most recent call last):
            ...
        cdl.errors.TreeTooLarge: the forest has more than 1 nodes once shared subtrees are written out:
        pack fewer trees at a time, or raise `max_nodes`.
    """


class CheckpointError(CdlError):
    """A checkpoint that is truncated, altered, or of another structure.

    Examples:
        >>> cdl.io.save("weights.cdl", {"scale": jnp.array(2.0)})
        >>> cdl.io.load("weights.cdl", {"scale": jnp.zeros(3)})
        Traceback (most recent call last):
            ...
        cdl.errors.CheckpointError: `weights.cdl` is of another structure: leaf 0 of 1 is `['scale']`:
        float32[] in the file, and leaf 0 of 1 is `['scale']`: float32[3] in the template. Make the
        template as the value was made that was saved.
    """


class LawBroken(CdlError, AssertionError):
    """A law that does not hold of the instance given, with the two sides that differ.

    Examples:
        >>> cdl.laws.functor(cdl.Fork(1, 2), abs, abs, map=lambda f, layer: cdl.Leaf(0))
        Traceback (most recent call last):
            ...
        cdl.errors.LawBroken: `F id = id`: the left side gives `Leaf(0)` where the right gives `Fork(1,
        2)`.
    """
