"""What one run measured, and how it is looked up and written down in tables."""

from collections.abc import Iterable, Sequence
from typing import Any


class Figures:
    """Requests and what came of each."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        self.found = found

    def add(self, request: dict[str, Any], result: dict[str, Any]) -> None:
        """Keeps one measurement, in place of an earlier one of the same."""
        if request["job"] != "rates":
            self.found = [f for f in self.found if f["request"] != request]
        self.found.append({"request": request, "result": result})

    def all(self, **wanted: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The measurements whose requests have these values, with their requests."""
        return [
            (f["request"], f["result"]) for f in self.found if all(f["request"].get(k) == v for k, v in wanted.items())
        ]

    def one(self, **wanted: Any) -> dict[str, Any]:
        """The first measurement whose request has these values."""
        return self.all(**wanted)[0][1]

    def has(self, job: str) -> bool:
        """Whether there is a measurement of this kind."""
        return bool(self.all(job=job))

    @property
    def peak(self) -> float:
        """The best rate of matrix products, GFLOP/s."""
        return float(max(r["peak"] for _, r in self.all(job="rates")))

    @property
    def bandwidth(self) -> float:
        """The best rate of memory, GB/s."""
        return float(max(r["bandwidth"] for _, r in self.all(job="rates")))

    def store(self, name: str, width: int) -> str:
        """The way of keeping states with which PyTorch was fastest."""
        stores = self.one(job="race", name=name, width=width)["stores"]
        return min(stores, key=lambda way: stores[way]["both"]) if stores else "pieces"

    def floor(self, race: dict[str, Any], kind: str) -> float:
        """Milliseconds that the products of a forward pass, or of a training step, take at the machine's best."""
        return float(race["operations"]) * (3 if kind == "both" else 1) / self.peak / 1e6


def ms(x: float) -> str:
    """Milliseconds, three figures at most."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def per_cent(x: float) -> str:
    """A share, to the per cent, or to a tenth of one where it is small."""
    return f"{100 * x:.0f} %" if x >= 0.095 else f"{100 * x:.1f} %"


def median(times: dict[str, Any], name: str) -> float | None:
    """A contestant's median, if it took part."""
    return float(times[name]["median"]) if name in times else None


def ratio(times: dict[str, Any], name: str, to: str = "cdl") -> str:
    """How many times longer a contestant takes."""
    if name not in times:
        return "not installed"
    found = float(times[name]["median"] / times[to]["median"])
    return f"{found:.0f} ×" if found >= 10 else f"{found:.2f} ×"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of Markdown; columns of numbers are set to the right."""
    text = [[str(x) for x in row] for row in rows]
    numbers = [all(_begins_with_a_digit(row[i]) for row in text) for i in range(len(head))]
    lines = [head, ["---:" if n and i else "---" for i, n in enumerate(numbers)], *text]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _begins_with_a_digit(cell: str) -> bool:
    return not cell or cell.lstrip("*-")[:1].isdigit()
