"""`Para` where parameters act in another way than by a product."""

# isort: off
from .._para.actegory import Actegory as Actegory, Acted as Acted, PRODUCT as PRODUCT, POWER as POWER
