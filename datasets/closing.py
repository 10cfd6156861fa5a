"""Closing lines of a table: sums or means of the lines above."""

LEAST_SUMMED = 4  # lines above one that may sum them up
# First cells of such lines.
CLOSING = {"mean", "average", "avg", "avg.", "median", "total", "totals", "sum", "std", "stdev"}


def is_number(text):
    """Return whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def closing_lines(records):
    """Return the last lines that sum up those before them: a word such as Mean, or sums or means of every column."""
    lines = []
    for line in reversed(records):
        if _first_cell(records[line]).lower() not in CLOSING:
            break
        lines.append(line)
    if not lines and len(records) > LEAST_SUMMED:
        *rest, (last, cells) = records.items()
        kinds = list(_summing(cells, [x for _, x in rest]))
        word = any(cell.strip().lower() in CLOSING for cell in cells)
        every = "other" not in kinds and len(kinds) == sum(map(is_number, cells)) > 1
        if kinds and (every or (word and {"sum", "mean"} & set(kinds))):
            return [last]
    if not lines:
        return []
    words = {_first_cell(records[line]).lower() for line in lines}
    rest = [cells for line, cells in records.items() if line not in lines]
    if not rest or any(cell.strip().lower() in words for cells in rest for cell in cells):
        return []
    return sorted(lines)


def _summing(cells, rest):
    """Return for each number of a line what it is of the column above: the sum, the mean or other."""
    for number, cell in enumerate(cells):
        column = [x[number] for x in rest if len(x) > number]
        if column and is_number(cell) and all(map(is_number, column)):
            total, last = sum(map(float, column)), float(cell)
            near = {"sum": total, "mean": total / len(column)}
            yield next((kind for kind, x in near.items() if x and abs(last / x - 1) < 1e-4), "other")


def word_of_closing(cells):
    """Return the word of a closing line, or that it has sums or means."""
    return next(
        (cell.strip() for cell in cells if cell.strip().lower().rstrip(":") in CLOSING), "sums or means"
    ).rstrip(":")


def _first_cell(cells):
    return next((cell.strip() for cell in cells if cell.strip()), "").rstrip(":")
