"""Files: values saved and loaded."""

# isort: off
from ._checkpoint import save as save, load as load
