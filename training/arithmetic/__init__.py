"""Arithmetic learned by transformers: problems, models, training, and accuracy by length of the operands."""

from ..names import lazy

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "evaluation": ["evaluate", "greedy", "right"],
        "execution": ["outline", "train", "train_run"],
        "exposure": ["rows_trained"],
        "models.transformer": ["Configuration", "Transformer"],
        "plan": ["Plan"],
        "presets": ["PRESETS", "preset"],
        "problems": [
            "TASKS",
            "Addition",
            "AdditionSubtraction",
            "Batch",
            "Multiplication",
            "Or",
            "Sorting",
            "Subtraction",
        ],
        "problems.digits": ["added", "multiplied", "ranked", "subtracted"],
        "problems.vocabulary": ["decode", "encode"],
        "records": ["accuracies"],
        "splits": ["axes", "default_cells", "regions"],
        "sweep": ["Sweep", "make_sweep", "read_sweep", "sweep_keys"],
    },
)
