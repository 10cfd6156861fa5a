"""Arithmetic learned by transformers: problems, models, training, and accuracy by length of the operands."""

from ..names import lazy

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "evaluation": ["evaluate", "greedy", "right"],
        "train_sweep": ["outline", "train", "train_run"],
        "models.transformer": ["Configuration", "Transformer"],
        "plan": ["BatchPlan"],
        "presets": ["PRESETS", "preset"],
        "problems": ["TASKS"],
        "problems.digits": ["added", "multiplied", "ranked", "subtracted"],
        "problems.disjunction": ["Or"],
        "problems.layout": ["Batch", "decode", "encode"],
        "problems.operations": ["Addition", "AdditionSubtraction", "Multiplication", "Subtraction"],
        "problems.sorting": ["Sorting"],
        "arithmetic_run": ["ArithmeticSweep"],
        "cells": ["accuracies", "axes", "default_cells", "regions"],
        "saved_weights": ["check_saved"],
        "sweep_file": ["make_sweep", "read_sweep", "sweep_keys"],
    },
)
