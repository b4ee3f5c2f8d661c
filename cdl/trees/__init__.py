"""Trees that you have: a signature, and the ways there and back, from dataclasses, JSON, brackets and other classes."""

# isort: off
from ._dataclasses import of_dataclasses as of_dataclasses, Derived as Derived
from ._classes import of_classes as of_classes
from ._json import JSON as JSON, JSONF as JSONF, Object as Object, Member as Member, Array as Array, String as String
from ._json import Number as Number, Boolean as Boolean, Null as Null, of_json as of_json, to_json as to_json
from ._brackets import Brackets as Brackets, BracketsF as BracketsF, Phrase as Phrase, Word as Word
from ._brackets import parse_brackets as parse_brackets, to_brackets as to_brackets
from ._vocabulary import Vocabulary as Vocabulary
