"""For test suites of those who build on cdl: types and shapes, checked at every call."""

from ._typecheck import typechecked as typechecked
