"""EMLP at the same actions, in the environment that it is installed in: `python _emlp.py '[10, 30]'`."""

import json
import sys
import time
from typing import Any

import numpy as np


def main() -> None:
    from emlp.groups import Group, Z
    from emlp.reps import V

    def basis(group: Any) -> Any:
        """The basis of its equivariant maps, and how many milliseconds it took."""
        began = time.perf_counter()
        found = np.asarray((V(group) >> V(group)).equivariant_basis())
        return found, 1e3 * (time.perf_counter() - began)

    class By(Group):  # type: ignore[misc]
        """A monoid, given to it as if it were a group: by one matrix."""

        def __init__(self, matrix: Any) -> None:
            self.discrete_generators = np.asarray(matrix)[None]
            super().__init__()

    basis(Z(5))  # JAX starts
    times = {}
    for n in json.loads(sys.argv[1]):
        found, took = basis(Z(n))
        assert found.shape[-1] == n
        times[str(n)] = took
    collapse = np.eye(5)
    collapse[:, 1] = collapse[:, 0]  # 1 goes to 0, where 0 is as well
    singular = {
        "truncated shift": np.eye(5, k=-1),
        "idempotent": np.diag([1.0, 1, 0, 0, 0]),
        "collapse of two places": collapse,
    }
    nans = {name: float(np.mean(np.isnan(basis(By(matrix))[0]))) for name, matrix in singular.items()}
    print(json.dumps({"times": times, "nans": nans}))


if __name__ == "__main__":
    main()
