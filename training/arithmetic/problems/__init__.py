"""The tasks of arithmetic by name, and their batches."""

from .disjunction import Or
from .layout import Batch
from .operations import Addition, AdditionSubtraction, Multiplication, Operation, Subtraction
from .sorting import Sorting
from .task import Task

TASKS = {made.name: made for made in (Addition, Subtraction, AdditionSubtraction, Multiplication, Sorting, Or)}

__all__ = [
    "TASKS",
    "Addition",
    "AdditionSubtraction",
    "Batch",
    "Multiplication",
    "Operation",
    "Or",
    "Sorting",
    "Subtraction",
    "Task",
]
