"""What code may read of a class without its name: operators, and where it makes names, everything."""

from typing import Any

from ._outside import is_generated, MAKES_NAMES


CONSTRUCTORS = frozenset(["__init__", "__new__", "__post_init__", "__class_getitem__", "__init_subclass__"])
CONSTRUCTS = frozenset(["type", "__class__", "replace", "copy"])  # what calls them for a class that is not mentioned
DESCRIBES = frozenset(  # what a class says of itself, which no operator reads
    "__module__ __doc__ __dict__ __weakref__ __annotations__ __abstractmethods__ __abstractvars__ __match_args__ "
    "__abstractclassvars__ __dataclass_params__ __dataclass_fields__ __parameters__ __orig_bases__ __slots__ "
    "__qualname__ __static_attributes__ __firstlineno__ __type_params__ __repr__ _abc_impl".split()
)


def members(owner: type[Any], names: set[str], *, constructed: bool) -> set[str]:
    """The attributes of a class that code may read. `names`: what it mentions; `constructed`: whether it may make
    instances of the class."""
    held = vars(owner)
    idle = DESCRIBES if constructed or names & CONSTRUCTS else DESCRIBES | CONSTRUCTORS
    every = bool(names & MAKES_NAMES)
    operators = {n for n, x in held.items() if every or (n.startswith("__") and n.endswith("__"))} - idle
    return (held.keys() & names) | {n for n in operators if not is_generated(held[n])}
