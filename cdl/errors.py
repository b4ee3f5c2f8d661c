"""What cdl raises: one small family, every member a `ValueError`.

| the error            | what was asked for and not had                                      |
| -------------------- | ------------------------------------------------------------------- |
| `SignatureError`     | annotations that spell a functor                                    |
| `ForeignLayer`       | a layer of the signature in question                                |
| `CarrierMismatch`    | an algebra: the same carrier out as in, for every constructor       |
| `PayloadMismatch`    | payloads of one shape and type in every node of a constructor       |
| `LengthMismatch`     | lengths of sequences that fit the data                              |
| `PortMismatch`       | what comes out of one optic, and goes into the next                 |
| `TreeTooLarge`       | a finite tree, within the bound that was set                        |
| `CheckpointError`    | a file that says what it should, whole and unchanged                |
| `LawBroken`          | a law that holds of the instance given                              |
"""


class CdlError(ValueError):
    """What was given does not have the structure that was asked for."""


class SignatureError(CdlError, TypeError):
    """Annotations that do not spell a functor, or sorts in another order than their family's."""


class ForeignLayer(CdlError, TypeError):
    """A value that is not a layer of the signature in question."""


class CarrierMismatch(CdlError):
    """A would-be algebra returned something other than its carrier."""


class PayloadMismatch(CdlError):
    """The payloads of one constructor differ in shape, or are not numbers."""


class LengthMismatch(CdlError):
    """Lengths of sequences that are not whole numbers, or do not fit the data."""


class PortMismatch(CdlError, TypeError):
    """What one optic gives is not what the next takes; or what a model gives, and its loss."""


class TreeTooLarge(CdlError):
    """A tree that is cyclic, or that has more nodes, once sharing is expanded, than the bound."""


class CheckpointError(CdlError):
    """A checkpoint that is truncated, altered, or of another structure."""


class LawBroken(CdlError, AssertionError):
    """A law that does not hold of the instance given, with the two sides that differ."""
