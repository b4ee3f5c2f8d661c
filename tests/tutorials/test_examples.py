"""The examples of the reference run, and print what they show.

An example stands in the docstring, under `Examples:`, as a session. `cdl`, `jax`, `jnp` and `eqx` are imported already.
"""

import doctest
import functools
import pathlib
import re

import equinox as eqx
import griffe
import jax
import jax.numpy as jnp
import pytest

import cdl


ROOT = pathlib.Path(__file__).parents[2]
ENTRY = re.compile(r"^::: (\S+)$", re.MULTILINE)
ENTRIES = [e for page in sorted(ROOT.glob("tutorials/reference/*.md")) for e in ENTRY.findall(page.read_text())]
KNOWN = {"__name__": "example", "cdl": cdl, "jax": jax, "jnp": jnp, "eqx": eqx}
# What an example writes as `…` in three dots is not compared, nor how its lines are broken.
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@functools.cache
def packages() -> griffe.ModulesCollection:
    loader = griffe.GriffeLoader(search_paths=[ROOT])
    for name in ("cdl", "cdl_arch"):
        loader.load(name)
    loader.resolve_aliases()
    return loader.modules_collection


def text(entry: str) -> str:
    docstring = packages()[entry].docstring
    return docstring.value if docstring else ""


@pytest.mark.page
@pytest.mark.parametrize("entry", ENTRIES)
def test_example_runs(entry, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(text(entry), dict(KNOWN), entry, None, 0)
    told = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=told.append)
    if told:
        pytest.fail("".join(told), pytrace=False)


def test_every_entry_has_an_example():
    assert [entry for entry in ENTRIES if ">>> " not in text(entry) and "```python" not in text(entry)] == []
