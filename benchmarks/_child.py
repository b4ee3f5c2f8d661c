"""One measurement in this process: `python -m benchmarks._child '{"job": "race", …}'`. Its last line is the result."""

import dataclasses
import json
import sys
from collections.abc import Callable
from typing import Any

from ._chain import chain
from ._compiling import compiling
from ._cores import cores
from ._epoch import epoch
from ._growth import growth, growth_on_cores
from ._launches import counted
from ._learning import learning
from ._machine import rates
from ._mealy import machines
from ._memory import memory
from ._natural import descents, product
from ._packing import packing
from ._race import race
from ._reverse import reverse
from ._scans import scans
from ._sequences import ragged, sequences
from ._signatures import signatures
from ._symmetry import emlp, solving, tied
from ._systems import boxes
from ._widths import widths


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "rates": rates,
    "race": race,
    "compiling": compiling,
    "packing": packing,
    "epoch": epoch,
    "chain": chain,
    "memory": memory,
    "reverse": reverse,
    "launches": counted,
    "sequences": sequences,
    "ragged": ragged,
    "machines": machines,
    "growth": growth,
    "growth on cores": growth_on_cores,
    "scans": scans,
    "signatures": signatures,
    "learning": learning,
    "cores": cores,
    "widths": widths,
    "solving": solving,
    "tied": tied,
    "emlp": emlp,
    "boxes": boxes,
    "descents": descents,
    "product": product,
}


def main() -> None:
    request = json.loads(sys.argv[1])
    print(json.dumps(JOBS[request.pop("job")](**request), default=dataclasses.asdict))


if __name__ == "__main__":
    main()
