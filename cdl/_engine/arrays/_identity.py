"""Objects compared by identity."""


class Identity:
    """One object, equal to itself alone, and kept alive so that no other takes its address."""

    def __init__(self, of: object) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)
