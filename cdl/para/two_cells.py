"""2-cells of `Para`: maps between parameters, and the ones that make it a bicategory."""

# isort: off
from .._para.two_cells import same as same, horizontal as horizontal, associator as associator
from .._para.two_cells import associator_back as associator_back, left_unitor as left_unitor
from .._para.two_cells import right_unitor as right_unitor, middle_four as middle_four, delta as delta
from .._para.two_cells import gather as gather, Gather as Gather
