"""Tables on pages: what is shown is what was measured, and it was measured by the programs as they stand."""

import importlib

import numpy as np
import pytest


PROGRAMS = {
    "metric": ["coordinates", "descent", "lengths", "modules"],
    "searches": ["pictures", "resampled", "signatures"],
    "symmetry": [
        "beyond_groups",
        "how_equivariant",
        "karate_club",
        "rotated_bodies",
        "what_structure_buys",
    ],
    "systems": ["always_learning", "plans", "talking"],
}
NAMES = [f"{package}.{name}" for package, names in PROGRAMS.items() for name in names]


def test_every_table_on_a_page_is_one_that_was_measured():
    from page_tables.results import filled, kept, PAGES, PLACE, tables

    shown = [(page, place[2]) for page in PAGES.glob("*.md") for place in PLACE.finditer(page.read_text())]
    assert sorted(name for _, name in shown) == sorted(tables())
    assert sorted(kept()) == NAMES
    for page, _ in shown:
        assert filled(page.read_text(), tables()) == page.read_text(), f"{page.name}: run the program with `--write`"


@pytest.mark.parametrize("name", NAMES)
def test_the_tables_are_what_a_program_measures_without_options(name):
    from page_tables.results import kept

    program = importlib.import_module(name).PROGRAM
    assert program.name == name
    assert program.options([]) == kept()[name]["options"]


def test_program_writes_to_the_page_that_has_its_place(monkeypatch, tmp_path):
    from page_tables import results

    monkeypatch.setattr(results, "PAGES", tmp_path)
    (tmp_path / "a_package").mkdir()
    page = "# A\n\n<!-- table: {} -->\n\nold\n\n<!-- /table -->\n\nend\n"
    (tmp_path / "a.md").write_text(page.format("ours") + page.format("others"))
    (tmp_path / "b.md").write_text("no table\n")
    program = results.Program(
        "a_package.some",
        results.arguments(None, seeds=5),
        lambda o: {"ours": results.Table(["a"], [[str(o.seeds)]])},
    )
    assert program.main(["--seeds", "2"]) == "| a   |\n| --- |\n| 2   |"
    assert results.kept() == {}
    program.main(["--write"])
    assert (tmp_path / "a_package/results.json").exists()
    assert results.kept()["a_package.some"]["options"] == {"seeds": 5}
    assert str(results.tables()["ours"]) == "| a   |\n| --- |\n| 5   |"
    now = (tmp_path / "a.md").read_text()
    assert now == page.format("ours").replace("old", "| a   |\n| --- |\n| 5   |") + page.format("others")


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.5], "0.50"),
        ([1.0, 2.0], "1.5 ± 0.7"),
        ([1.3e-13], "1.3e-13"),
        ([np.inf, 1.0], "not finite"),
    ],
)
def test_a_number_is_shown_with_its_spread(values, shown):
    from page_tables.markdown import spread

    assert spread(values) == shown
