"""Terms: how an architecture was put together, which its picture, its page and its diagram in DisCoPy are read from."""

# isort: off
from .space import Space as Space, pair as pair, join as join, none as none, parameters as parameters
from .names import name as name, numbers as numbers, changes as changes, real as real
from .term import Term as Term, Box as Box, Wires as Wires, Then as Then, Beside as Beside, Along as Along
from .term import Named as Named, Loop as Loop, Turned as Turned, term_of as term_of
from .term import box as box, own as own, wires as wires, boxes as boxes
from .term import then as then, beside as beside, fan as fan, along as along, named as named, loop as loop
from .turned import plain as plain, parametrised as parametrised, after as after
