"""Payloads: their types, how they are annotated, and random values of them, as text.

A type is `("py", name)`, `("array", dtype, shape)`, `("scalar", dtype)`, which is NumPy's, `("tuple", …)`,
`("dict", …)` or `("maybe", …)`.
"""

import random
from typing import Any


SMALL = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32", "complex64")
WIDE = (*SMALL, "int64", "uint64", "float64", "complex128")
PYTHON = ("float", "int", "bool")
SHAPES = ((), (2,), (1, 2), (0,))
NAMES = {"bool": "Bool", "uint": "UInt", "int": "Int", "bfloat": "BFloat", "float": "Float", "complex": "Complex"}


def draw(rng: random.Random, x64: bool, depth: int = 0) -> Any:
    """A random type of payload."""
    kind = rng.choices(("py", "array", "scalar", "tuple", "dict", "maybe"), (5, 5, 2, 1, 1, 1))[0]
    if depth > 1 and kind in ("tuple", "dict", "maybe"):
        kind = "py"
    dtype = rng.choice(WIDE if x64 else SMALL)
    match kind:
        case "py":
            return "py", rng.choice(PYTHON)
        case "array":
            return "array", dtype, rng.choices(SHAPES, (4, 4, 2, 1))[0], rng.random() < 0.3
        case "scalar":
            return "scalar", dtype
        case "maybe":
            return "maybe", draw(rng, x64, 2)
        case _:
            return kind, *(draw(rng, x64, depth + 1) for _ in range(rng.randint(1, 2)))


def annotation(kind: Any) -> str:
    match kind:
        case ("py", name):
            return str(name)
        case ("array", dtype, shape, True) if not dtype.startswith("bool"):
            return f'{of(dtype)}[Any, "{" ".join(map(str, shape))}"]'
        case ("array", *_) | ("scalar", _):
            return "Any"
        case ("maybe", inner):
            return f"{annotation(inner)} | None" if annotation(inner) != "Any" else "Any"
        case ("tuple", *parts):
            return f"tuple[{', '.join(map(annotation, parts))}]"
        case _:
            return "dict[str, Any]"


def of(dtype: str) -> str:
    """What `jaxtyping` calls a type."""
    letters = dtype.rstrip("0123456789")
    return f"jaxtyping.{NAMES[letters]}{dtype[len(letters) :]}"


def text(kind: Any, rng: random.Random) -> str:
    """A random value."""
    match kind:
        case ("py", name):
            return literal(name, rng)
        case ("array", dtype, shape, _):
            return f'jnp.array({listed(dtype, shape, rng)}, "{dtype}")'
        case ("scalar", dtype):
            return f'np.asarray({literal(dtype, rng)}).astype("{dtype}")[()]'
        case ("maybe", inner):
            return "None" if rng.random() < 0.4 else text(inner, rng)
        case ("tuple", *parts):
            return f"({', '.join(text(p, rng) for p in parts)},)"
        case (_, *parts):
            return "{" + ", ".join(f'"k{i}": {text(p, rng)}' for i, p in enumerate(parts)) + "}"
    raise AssertionError(kind)


def grown(kind: Any, h: str) -> str:
    """A value that depends on a vector and on how deep a seed is, `n`."""
    match kind:
        case ("py", "float"):
            return f"{h}[0]"
        case ("py", "int"):
            return "n + 2"
        case ("py", "bool"):
            return f"{h}[0] > 0"
        case ("array", dtype, shape, _):
            return f'({h}[1] * jnp.ones({shape})).astype("{dtype}")'
        case ("scalar", dtype):
            return f'({h}[2]).astype("{dtype}")'
        case ("maybe", inner):
            return grown(inner, h)
        case ("tuple", *parts):
            return f"({', '.join(grown(p, h) for p in parts)},)"
        case (_, *parts):
            return "{" + ", ".join(f'"k{i}": {grown(p, h)}' for i, p in enumerate(parts)) + "}"
    raise AssertionError(kind)


def listed(dtype: str, shape: tuple[int, ...], rng: random.Random) -> str:
    if not shape:
        return literal(dtype, rng)
    return f"[{', '.join(listed(dtype, shape[1:], rng) for _ in range(shape[0]))}]" if shape[0] else "[]"


def literal(name: str, rng: random.Random) -> str:
    """A random number of a type; now and then the greatest, or the first that a float of 32 bits does not have."""
    if name == "bool":
        return str(rng.random() < 0.5)
    bits = int(name.lstrip("abcdefghijklmnopqrstuvwxyz") or 32)
    if name.startswith(("int", "uint")):
        signed = not name.startswith("u")
        most = 2 ** (bits - signed) - 1
        near = [rng.randint(-4 * signed, 9)] * 8 + [most, most - 1, -most - 1 if signed else 0]
        return str(rng.choice([*near, min(most, 16777217)]))
    if name.startswith("complex"):
        return f"({rng.gauss(0, 1):.3f}{rng.gauss(0, 1):+.3f}j)"
    return f"{rng.gauss(0, 1):.4f}"
