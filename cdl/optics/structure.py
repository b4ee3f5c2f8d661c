"""The structure maps of optics as a monoidal category: what rebrackets pairs, and what drops an empty part."""

# isort: off
from .._optics.structure import associator as associator, associator_back as associator_back
from .._optics.structure import left_unitor as left_unitor, left_unitor_back as left_unitor_back
from .._optics.structure import right_unitor as right_unitor, right_unitor_back as right_unitor_back
