"""The checks that cdl's own functions make of their arguments, for architectures of yours, and the words of errors."""

# isort: off
from ._functors.usage import with_types as with_types, with_usage as with_usage, takes as takes, whole as whole
from ._schemes.in_range import in_range as in_range
from ._schemes.expect import expect_key as expect_key
from ._functors.described import described as described
from ._functors.words import short as short, an as an, number_of as number_of
