"""The tasks of arithmetic by name."""

from .disjunction import Or
from .operations import Addition, AdditionSubtraction, Multiplication, Subtraction
from .sorting import Sorting

TASKS = {task.name: task for task in (Addition, Subtraction, AdditionSubtraction, Multiplication, Sorting, Or)}
