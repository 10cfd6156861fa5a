"""Names of the specifications of progress, of their variants and of their noises, as a page writes them."""

from ...laws import EFFECTS, INDEPENDENT

REMARKS = {
    1: "one intercept",
    2: "one intercept, data only",
    3: "one intercept, parameters only",
    4: "one intercept, years by benchmark in N",
    5: "one intercept, years by benchmark in D",
    6: "one intercept, years by benchmark",
    7: "main one of the paper",
    8: "progress in data only",
    9: "progress in parameters only",
    10: "years by benchmark",
    11: "years and exponents by benchmark",
    12: "one year slope for both terms",
    13: "exponents by architecture",
    14: "progress through exponents only",
    15: "progress through exponents too",
    16: "no progress",
    17: "no progress, exponents by architecture",
    18: "compute only",
    19: "with vocabulary",
    20: "diminishing returns of epochs",
}
EFFECTS_WORDS = {EFFECTS: "with random effects by paper", INDEPENDENT: "without random effects by paper"}
VARIANTS = {
    "main": "specification 7",
    "student_t": "Student-t residuals",
    "log_loss": "residuals of log loss",
    "pooling": "benchmarks' spread estimated",
    "paper_effects": "paper effects",
    "scatter": "scatter by benchmark",
    "paper_effects_scatter": "paper effects, scatter by benchmark",
    "irreducible": "irreducible loss by benchmark",
    "transformer_exp": "transformer factor exp(γ)",
    "transformer_sigmoid": "transformer factor σ(γ)",
    "non_transformers": "non-transformers only",
    "tokens_seen_imputed": "tokens seen, unknown epochs 1",
    "tokens_seen": "tokens seen, unknown epochs dropped",
    "diminishing_imputed": "diminishing returns, unknown epochs 1",
    "diminishing": "diminishing returns, unknown epochs dropped",
    "repeated_imputed": "repeated data, unknown epochs 1",
    "repeated": "repeated data, unknown epochs dropped",
    "vocabulary": "vocabulary (specification 19)",
}
