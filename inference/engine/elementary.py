"""Elementary functions in the language of LLVM, without branches or calls, so that loops over rows are vectorised.

The C library's functions take one number at a time. The exponential and logarithms are right to three units in the
last place. The logarithm of the gamma function and its derivative, of positive numbers, are right to an absolute error
of 1e-14 where they are below ten.
"""

import math
import struct

MAGIC = 1.5 * 2.0**52  # Adding a number to this rounds it to a whole number, which then stands in the last bits.
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # The first is exact times whole numbers below 2**20.
RANGE = 800.0  # Beyond it exp is 0 or infinite.
LEAST = 2.0**-1022  # Below it numbers hold fewer digits.
EXP_TERMS, LOG_TERMS = 13, 11  # Of Taylor series, whose rest is below rounding.
# Of the asymptotic series of log(gamma(x)) in odd powers of 1/x, and of its derivative in even ones from 1/x**2 on.
GAMMA_TERMS = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
DIGAMMA_TERMS = tuple(-(2 * n + 1) * term for n, term in enumerate(GAMMA_TERMS))
RAISED = 8  # below it the series is that of x + 8, and x(x + 1)...(x + 7) the ratio of the two gamma functions
EXP, LOG, LOG1P = "elementary.exp", "elementary.log", "elementary.log1p"
GAMMALN, DIGAMMA = "elementary.gammaln", "elementary.digamma"


def bits(value):
    """Return the whole number whose bits are those of a number."""
    return struct.unpack(">q", struct.pack(">d", value))[0]


def number(value):
    """Write a number with every digit."""
    return f"0x{bits(value) % 2**64:016X}"


def functions():
    """Write the functions: lines that define `EXP`, `LOG`, `LOG1P`, `GAMMALN` and `DIGAMMA`, each of a double."""
    return [*_exp(), *_log(), *_log1p(), *_gammaln(), *_digamma()]


def _horner(coefficients, variable, name):
    """Write the lines of a polynomial, its highest coefficient first, and the name of its value."""
    lines, before = [], number(coefficients[0])
    for k, coefficient in enumerate(coefficients[1:]):
        lines.append(f"  %{name}p{k} = fmul contract double {before}, {variable}")
        lines.append(f"  %{name}{k} = fadd contract double %{name}p{k}, {number(coefficient)}")
        before = f"%{name}{k}"
    return lines, before


def _exp():
    """Write ``exp(x) = 2**k exp(r)``, abs(r) at most log(2)/2; 2**k is two factors, since it may overflow."""
    series, value = _horner([1 / math.factorial(n) for n in range(EXP_TERMS, -1, -1)], "%r", "s")
    return [
        f"define internal double @{EXP}(double %given) alwaysinline {{",
        f"  %high = fcmp ogt double %given, {number(RANGE)}",
        f"  %below = select i1 %high, double {number(RANGE)}, double %given",
        f"  %low = fcmp olt double %below, {number(-RANGE)}",
        f"  %x = select i1 %low, double {number(-RANGE)}, double %below",
        f"  %twos = fmul double %x, {number(1 / math.log(2))}",
        f"  %held = fadd double %twos, {number(MAGIC)}",
        f"  %k = fsub double %held, {number(MAGIC)}",
        f"  %first = fmul double %k, {number(LN2_HIGH)}",
        "  %most = fsub double %x, %first",
        f"  %second = fmul double %k, {number(LN2_LOW)}",
        "  %r = fsub double %most, %second",
        *series,
        "  %bits = bitcast double %held to i64",
        f"  %whole = sub i64 %bits, {bits(MAGIC)}",
        "  %half = ashr i64 %whole, 1",
        "  %rest = sub i64 %whole, %half",
        *_power("%half", "one"),
        *_power("%rest", "other"),
        f"  %part = fmul double {value}, %one",
        "  %found = fmul double %part, %other",
        "  ret double %found",
        "}",
    ]


def _power(exponent, name):
    """Write the lines of 2 to the power of a whole number that is neither too large nor too small."""
    return [
        f"  %{name}.biased = add i64 {exponent}, 1023",
        f"  %{name}.bits = shl i64 %{name}.biased, 52",
        f"  %{name} = bitcast i64 %{name}.bits to double",
    ]


def _log():
    """Write ``log(2**k m) = k log(2) + 2 artanh(s)``, ``s = (m - 1)/(m + 1)``, for m within a factor sqrt(2) of 1."""
    series, value = _horner([2 / (2 * n + 1) for n in range(LOG_TERMS, 0, -1)], "%z", "s")
    return [
        f"define internal double @{LOG}(double %x) alwaysinline {{",
        f"  %tiny = fcmp olt double %x, {number(LEAST)}",
        f"  %more = fmul double %x, {number(2.0**54)}",
        "  %scaled = select i1 %tiny, double %more, double %x",
        f"  %off = select i1 %tiny, double {number(54.0)}, double 0.0",
        "  %bits = bitcast double %scaled to i64",
        f"  %above = sub i64 %bits, {bits(math.sqrt(0.5))}",
        "  %whole = ashr i64 %above, 52",
        "  %high = shl i64 %whole, 52",
        "  %rest = sub i64 %bits, %high",
        "  %m = bitcast i64 %rest to double",
        f"  %placed = add i64 %whole, {bits(MAGIC)}",
        "  %held = bitcast i64 %placed to double",
        f"  %twos = fsub double %held, {number(MAGIC)}",
        "  %k = fsub double %twos, %off",
        f"  %f = fsub double %m, {number(1.0)}",
        f"  %sum = fadd double %m, {number(1.0)}",
        "  %s = fdiv double %f, %sum",
        "  %z = fmul double %s, %s",
        *series,
        f"  %zs = fmul double %z, {value}",
        "  %curved = fmul double %s, %zs",
        f"  %straight = fmul double %s, {number(2.0)}",
        f"  %less = fmul double %k, {number(LN2_LOW)}",
        "  %small = fadd double %curved, %less",
        "  %both = fadd double %straight, %small",
        f"  %most = fmul double %k, {number(LN2_HIGH)}",
        "  %value = fadd double %most, %both",
        *_within("%x"),
        "  %zero = fcmp oeq double %x, 0.0",
        "  %negative = fcmp olt double %x, 0.0",
        f"  %other = select i1 %negative, double {number(math.nan)}, double %x",
        f"  %edge = select i1 %zero, double {number(-math.inf)}, double %other",
        "  %found = select i1 %within, double %value, double %edge",
        "  ret double %found",
        "}",
    ]


def _within(name):
    """Write the lines that test whether a number is positive and finite."""
    return [
        f"  %positive = fcmp ogt double {name}, 0.0",
        f"  %finite = fcmp olt double {name}, {number(math.inf)}",
        "  %within = and i1 %positive, %finite",
    ]


def _log1p():
    """Write log(1 + x): the logarithm of u, the rounded 1 + x, and the rounding error over u."""
    return [
        f"define internal double @{LOG1P}(double %x) alwaysinline {{",
        f"  %u = fadd double %x, {number(1.0)}",
        f"  %log = call double @{LOG}(double %u)",
        f"  %rounded = fsub double %u, {number(1.0)}",
        "  %lost = fsub double %x, %rounded",
        "  %share = fdiv double %lost, %u",
        "  %value = fadd double %log, %share",
        *_within("%u"),
        "  %found = select i1 %within, double %value, double %log",
        "  ret double %found",
        "}",
    ]


def _raised(terms):
    """Write lines that raise x to y of at least `RAISED`: log(y), 1/y, a sum of terms in 1/y**2; and the sum's name."""
    series, value = _horner(terms[::-1], "%f", "s")
    return [
        f"  %small = fcmp olt double %x, {number(RAISED)}",
        f"  %more = fadd double %x, {number(RAISED)}",
        "  %y = select i1 %small, double %more, double %x",
        f"  %log = call double @{LOG}(double %y)",
        f"  %inverse = fdiv double {number(1.0)}, %y",
        "  %f = fmul double %inverse, %inverse",
        *series,
    ], value


def _gammaln():
    """Write ``(y - 1/2) log(y) - y + log(2 pi)/2 + series``, minus ``log(x(x + 1)...)`` where x was raised."""
    head, value = _raised(GAMMA_TERMS)
    product = []
    for k in range(1, RAISED):
        before = "%x" if k == 1 else f"%product{k - 1}"
        product += [f"  %x{k} = fadd double %x, {number(k)}", f"  %product{k} = fmul double {before}, %x{k}"]
    return [
        f"define internal double @{GAMMALN}(double %x) alwaysinline {{",
        *head,
        *product,
        f"  %ratio = select i1 %small, double %product{RAISED - 1}, double {number(1.0)}",
        f"  %less = call double @{LOG}(double %ratio)",
        f"  %power = fsub double %y, {number(0.5)}",
        f"  %logs = fsub double %log, {number(1.0)}",
        "  %main = fmul double %power, %logs",
        f"  %tail = fmul double {value}, %inverse",
        f"  %rest = fadd double %tail, {number(0.5 * math.log(2 * math.pi) - 0.5)}",
        "  %above = fadd double %main, %rest",
        "  %found = fsub double %above, %less",
        "  ret double %found",
        "}",
    ]


def _digamma():
    """Write ``log(y) - 1/(2 y) - series``, minus ``1/x + 1/(x + 1) + ...`` where x was raised.

    That sum is the derivative of the product ``x(x + 1)...`` over the product.
    """
    head, value = _raised(DIGAMMA_TERMS)
    product = []
    for k in range(1, RAISED):
        before, slope = ("%x", number(1.0)) if k == 1 else (f"%product{k - 1}", f"%slope{k - 1}")
        product += [
            f"  %x{k} = fadd double %x, {number(k)}",
            f"  %product{k} = fmul double {before}, %x{k}",
            f"  %times{k} = fmul double {slope}, %x{k}",
            f"  %slope{k} = fadd double %times{k}, {before}",
        ]
    return [
        f"define internal double @{DIGAMMA}(double %x) alwaysinline {{",
        *head,
        *product,
        f"  %inverses = fdiv double %slope{RAISED - 1}, %product{RAISED - 1}",
        "  %less = select i1 %small, double %inverses, double 0.0",
        f"  %tail = fmul double {value}, %f",
        f"  %half = fmul double %inverse, {number(0.5)}",
        "  %below = fsub double %tail, %half",
        "  %above = fadd double %log, %below",
        "  %found = fsub double %above, %less",
        "  ret double %found",
        "}",
    ]
