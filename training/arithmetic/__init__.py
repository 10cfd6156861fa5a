"""Arithmetic learned by transformers: problems, models, training, and accuracy by length of the operands."""

from ..names import lazy

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "evaluation": ["check_saved", "evaluate", "greedy", "right"],
        "models.transformer": ["Configuration", "Transformer"],
        "plan": ["BatchPlan"],
        "presets": ["PRESETS"],
        "problems.digits": ["added", "multiplied", "ranked", "subtracted"],
        "problems.layout": ["Batch", "decode", "encode"],
        "problems.tasks": [
            *("TASKS", "Addition", "AdditionSubtraction", "Multiplication", "Or", "Sorting", "Subtraction")
        ],
        "arithmetic_run": ["ArithmeticSweep"],
        "cells": ["accuracies", "axes", "default_cells", "regions"],
        "sweep_file": ["make_sweep", "outline", "read_sweep", "sweep_keys", "train"],
    },
)
