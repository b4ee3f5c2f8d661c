"""The programs of the tables about metrics, each in a small size."""

import numpy as np
import pytest
from table_rows import rows


def numbers(row):
    return [float(cell.split(" ± ")[0]) for cell in row[1:]]


@pytest.mark.slow
def test_the_tables_of_coordinates_say_who_makes_the_same_step():
    from metric import coordinates

    tables = coordinates.PROGRAM.main("--seeds 1 --width 2".split()).split("\n\n")
    invariance, updates, modules, between = map(rows, tables)
    found = {row[0]: numbers(row) for row in invariance[2:]}
    natural, layers, plain, descent, adam, sign = found.values()
    assert max(natural[:4]) < 1e-9
    assert np.isclose(natural[4] / natural[6], 100, rtol=0.5)
    assert layers[3] < 1e-9 < 1e-2 < layers[0]
    assert max(plain[1:3] + descent[1:3] + adam[2:3] + sign[2:3]) < 1e-9
    assert min(plain[0], descent[0], adam[1], sign[1]) > 1e-2
    (_, length, along), (_, other, askew) = updates[3:]
    assert float(length) > 2
    assert float(along) > 0.999 > float(askew)
    assert float(other) != 1
    assert [row[0] for row in modules[2:]] == ["1e-02", "1e-03", "1e-04"]
    assert 0 < numbers(between[2])[0] < 1


@pytest.mark.slow
def test_modules_say_who_learns_by_itself_and_who_fits():
    from metric import modules

    alone, stitched = (rows(t) for t in modules.PROGRAM.main("--seeds 2 --steps 40".split()).split("\n\n"))
    found = {row[0]: numbers(row) for row in alone[2:]}
    assert found["by costates"][:2] == [0, 0]
    assert 0 < found["by costates of the step before"][1] < 0.3 < found["greedily"][1]
    whole, apart, mended, same = (numbers(row)[0] for row in stitched[2:])
    assert apart < 30 < 80 < min(whole, mended, same)


@pytest.mark.slow
def test_lengths_have_every_network_and_agree_with_closed_forms():
    from metric import lengths

    nets, forms = (rows(t) for t in lengths.PROGRAM.main("--seeds 2 --width 100 --draws 2".split()).split("\n\n"))
    assert [row[0] for row in nets[2:]] == list(lengths.NETS)
    found = {row[0]: numbers(row) for row in nets[2:]}
    assert found["Transformer without skips"][0] > 10 * found["Transformer"][0]
    assert found["Elman's cell, along a sequence"][2] > 20
    for row in forms[2:]:
        expected, measured = numbers(row)
        assert np.isclose(measured, expected, rtol=0.15)
