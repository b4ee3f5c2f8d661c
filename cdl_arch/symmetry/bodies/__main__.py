"""Prints the table: mean ± standard deviation over five seeds, or as many as are given."""

import sys

from ._table import table


def main(seeds: int = 5) -> None:
    print(f"Error over the deviation of the target, mean ± sd over {seeds} seeds, 500 steps of 128 bodies.\n")
    print("| network | 2–8 masses | rotated | 9–16 masses | rotated |\n| --- | --- | --- | --- | --- |")
    for name, rows in table(range(seeds)).items():
        means, deviations = rows.mean(0), rows.std(0, ddof=1) if seeds > 1 else 0 * rows[0]
        print(f"| {name} | " + " | ".join(f"{m:.3f} ± {d:.3f}" for m, d in zip(means, deviations, strict=True)) + " |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
