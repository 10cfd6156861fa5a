"""Variants of a specification of progress: options of `Progress` by name."""

VARIANTS = {
    "student_t": {"noise": "student_t"},
    "log_loss": {"scale": "log_loss"},
    "pooling": {"pooling": True},
    "paper_effects": {"paper_effects": True},
    "scatter": {"scatter": "by_benchmark"},
    "paper_effects_scatter": {"paper_effects": True, "scatter": "by_benchmark"},
    "irreducible": {"irreducible": True},
    "transformer_exp": {"transformer": "exp"},
    "transformer_sigmoid": {"transformer": "sigmoid"},
    "non_transformers": {"architectures": "other"},
    "tokens_seen_imputed": {"data": "tokens_seen"},
    "tokens_seen": {"data": "tokens_seen", "unknown_epochs": "drop"},
    "diminishing_imputed": {"data": "diminishing"},
    "diminishing": {"data": "diminishing", "unknown_epochs": "drop"},
    "repeated_imputed": {"data": "repeated"},
    "repeated": {"data": "repeated", "unknown_epochs": "drop"},
}
