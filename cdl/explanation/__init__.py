"""Explanations: an architecture in mathematics, with the laws that were run on it."""

# isort: off
from ._explain import explain as explain
from ._page import Explanation as Explanation, Checked as Checked, Weights as Weights
