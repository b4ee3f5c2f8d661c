"""Drawings: terms, signatures, trees, folds and machines as text, Mermaid, SVG and pictures."""

# isort: off
from ._drawing import draw as draw, Drawing as Drawing
