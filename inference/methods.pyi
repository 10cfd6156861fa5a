"""Types of the methods of a fit."""

from .checks.check import check as _check
from .checks.law_tests import law_tests as _law_tests
from .checks.sandwich import robust as _robust
from .checks.sandwich import robust_sd as _robust_sd
from .checks.wider_laws import wider_laws as _wider_laws
from .comparison.loo import loo as _loo
from .estimands.allocate import allocate as _allocate
from .estimands.predict import predict as _predict
from .estimands.predict_group import predict_group as _predict_group
from .estimands.study_exponents import study_exponents as _study_exponents
from .estimands.tuning import tuning as _tuning
from .formulas.ask import ask as _ask
from .storage import to_inferencedata as _to_inferencedata
from .stored_answers import text as _text
from .summary import make_answers
from .summary import summary as _summary

class Methods:
    _make_answers = make_answers
    allocate = _allocate
    ask = _ask
    check = _check
    law_tests = _law_tests
    loo = _loo
    predict = _predict
    predict_group = _predict_group
    robust = _robust
    robust_sd = _robust_sd
    study_exponents = _study_exponents
    summary = _summary
    text = _text
    to_inferencedata = _to_inferencedata
    tuning = _tuning
    wider_laws = _wider_laws
