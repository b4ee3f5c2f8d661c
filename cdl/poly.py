"""Polynomial functors as terms: what a signature is read into."""

# isort: off
from ._functors.poly import Poly as Poly, Const as Const, Id as Id, Product as Product, Record as Record, Sum as Sum
from ._functors.poly import Maybe as Maybe, ListOf as ListOf, ManyOf as ManyOf, Exp as Exp, Inj as Inj
from ._functors.poly import compose as compose, walk as walk
