"""Trees that you have: a signature, and the ways there and back, from dataclasses, JSON, brackets and classes."""

# isort: off
from ._dataclasses import of_dataclasses as of_dataclasses, Derived as Derived
