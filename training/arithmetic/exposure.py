"""How often training shows each row of a table of Abacus embeddings, which need neither a model nor torch to count."""

import numpy as np

from ..engine.fields import Count, check_value


def rows_trained(digits, k_max):
    """Count how many digits of both operands train each row, by problem on average.

    Operands have 1 to n `digits`, all lengths equally often, and one offset of 0..k_max - 1 shifts the places of a
    problem, all equally often. So place p of a number trains row r at offset r - p alone, and has a digit with
    probability (n - p + 1) / n. Few offsets train the first rows, n of them the inner ones, and few again the last
    ones.

    The result has the digits of both operands of a problem on each row that training reaches, float, shape
    (digits + k_max,). Row 0 is for tokens that are no digits. `InputError` is raised if a number is out of range.

    Examples
    --------
    The first row is trained at offset 0 alone, by the first digits of both numbers:

    >>> from bayescaling.training.arithmetic import rows_trained
    >>> digits = rows_trained(digits=10, k_max=40)
    >>> float(digits[1]), float(digits[10].round(3)), float(digits.sum().round(3))
    (0.05, 0.275, 11.0)
    """
    for name, value in (("digits", digits), ("k_max", k_max)):
        check_value(f"rows_trained: {name}", value, Count)
    places = np.arange(1, digits + 1)
    trained = np.zeros(digits + k_max)
    for offset in range(k_max):
        trained[places + offset] += 2 * (digits - places + 1) / digits / k_max
    return trained
