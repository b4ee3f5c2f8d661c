"""Drawings: terms, signatures, trees, folds, machines and optics as text, Mermaid, SVG and pictures."""

# isort: off
from ._drawing import draw as draw, Drawing as Drawing, to_discopy as to_discopy
