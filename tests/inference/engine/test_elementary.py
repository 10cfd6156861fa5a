"""Elementary functions of compiled densities, against those of the C library and exact ones."""

import ctypes
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from bayescaling.inference.engine import elementary
from bayescaling.inference.engine.llvm import address, module
from scipy.special import digamma, gammaln

# Over numbers of an array, which are taken several at a time, and the rest one at a time.
LOOP = """
define void @all(i64 %n, ptr noalias %x, ptr noalias %out) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr double, ptr %x, i64 %i
  %to = getelementptr double, ptr %out, i64 %i
  %one = load double, ptr %from
  %found = call double @{name}(double %one)
  store double %found, ptr %to
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


def evaluated(name, x):
    """Values of one of the functions at all of an array."""
    x = np.ascontiguousarray(x, dtype=float)
    out = np.empty_like(x)
    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
    call(address(module([LOOP.format(name=name)]), "all"))(len(x), x.ctypes.data, out.ctypes.data)
    return out


def both_signs(low, high, count=20_001):
    positive = np.geomspace(low, high, count)
    return np.concatenate([-positive, [0.0], positive])


@pytest.mark.parametrize(
    ("name", "exact", "x"),
    [
        (elementary.EXP, Decimal.exp, both_signs(1e-20, 708)),
        (elementary.LOG, Decimal.ln, np.geomspace(5e-324, 1.7e308, 20_001)),
        (elementary.LOG, Decimal.ln, 1 + both_signs(1e-15, 0.6)),
        (elementary.LOG1P, lambda x: (1 + x).ln(), np.geomspace(1e-40, 1.7e308, 20_001)),
        (elementary.LOG1P, lambda x: (1 + x).ln(), both_signs(1e-18, 0.999)),
    ],
    ids=["exp", "log", "log near 1", "log1p", "log1p near 0"],
)
def test_values_are_right_to_three_units_in_the_last_place(name, exact, x):
    values = evaluated(name, x)
    some = np.random.default_rng(1).choice(len(x), 3_000, replace=False)
    with localcontext() as context:
        context.prec = 80  # of 1 + x too
        errors = [
            float(abs(Decimal(float(v)) - exact(Decimal(float(a)))) / Decimal(math.ulp(float(v))))
            for v, a in zip(values[some], x[some], strict=True)
            if v
        ]
    assert max(errors) <= 3


def test_the_edges_are_those_of_the_c_library():
    x = np.array(
        [0.0, -0.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1e-310, -1e-310, 709.7, 710.0, -745.0, -746.0]
    )
    with np.errstate(all="ignore"):
        for name, expected in (
            (elementary.EXP, np.exp(x)),
            (elementary.LOG, np.log(x)),
            (elementary.LOG1P, np.log1p(x)),
        ):
            np.testing.assert_allclose(evaluated(name, x), expected, rtol=5e-16)


def test_the_smallest_exponentials_are_rounded_not_dropped():
    x = np.linspace(-745.0, -708.0, 1_001)
    np.testing.assert_allclose(evaluated(elementary.EXP, x), np.exp(x), rtol=1e-15, atol=5e-324)


@pytest.mark.parametrize(
    ("name", "expected"), [(elementary.GAMMALN, gammaln), (elementary.DIGAMMA, digamma)], ids=["gammaln", "digamma"]
)
def test_the_gamma_functions_are_those_of_scipy(name, expected):
    x = np.concatenate([np.geomspace(1e-8, 1e12, 20_001), np.linspace(0.5, 12, 20_001)])
    np.testing.assert_allclose(evaluated(name, x), expected(x), rtol=3e-15, atol=1e-14)
    assert not np.isfinite(evaluated(name, [0.0, math.nan])).any()
