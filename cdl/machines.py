"""Machines: coalgebras put together, as tables, and run over whole sequences or one input at a time."""

# isort: off
from ._functors import Moore as Moore, MooreF as MooreF, Mealy as Mealy, MealyF as MealyF, respond as respond
from ._schemes import stateless as stateless, delay as delay, series as series, parallel as parallel
from ._schemes import feedback as feedback, as_mealy as as_mealy
from ._schemes import Automaton as Automaton, tabulate as tabulate, bisimilar as bisimilar
from ._schemes import distinguish as distinguish, minimise as minimise
from ._engine import run as run, start as start, Stepper as Stepper
