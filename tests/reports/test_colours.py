"""Colours differ to readers who see no green, no red or no blue; where two do not, their dashes differ."""

import itertools

import numpy as np
import pytest
from bayescaling.inference.words import si
from bayescaling.reports.drawing.captions import caption, named
from bayescaling.reports.drawing.checks import WITHIN, deviation
from bayescaling.reports.drawing.style import BLUE, PUBLISHED, SERIES, band, figure, line, median_and_bands

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SEEN = {
    "everything": np.eye(3),
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
APART = 20  # CIE 1976 difference; about 2.3 is just seen side by side


def lab(colour, seen):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = XYZ @ np.clip(np.array(seen) @ linear, 0, 1) / (XYZ @ np.ones(3))
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one, other, seen):
    return float(np.linalg.norm(lab(one, SEEN[seen]) - lab(other, SEEN[seen])))


def test_the_measure_finds_a_red_and_a_green_that_look_alike():
    pair = "#b5403a", "#3a7d44"
    assert difference(*pair, "everything") > 3 * APART and difference(*pair, "no green") < APART


@pytest.mark.parametrize("seen", SEEN)
def test_published_laws_and_ours_are_told_apart(seen):
    looks = [(BLUE, "solid"), *PUBLISHED.values()]
    for (one, dash), (other, another) in itertools.combinations(looks, 2):
        assert difference(one, other, seen) > APART and dash != another


@pytest.mark.parametrize("seen", SEEN)
def test_curves_of_a_figure_are_told_apart_by_colour_or_dash(seen):
    for (one, dash), (other, another) in itertools.combinations(SERIES, 2):
        assert dash != another or difference(one, other, seen) > APART


def test_bands_have_swatches_of_their_own():
    x = np.arange(3.0)
    outer, inner = (t for t in median_and_bands(x, np.arange(15.0).reshape(5, 3), BLUE, ("C", ".3s", "tokens"))
                    if t.fill == "tonexty")  # fmt: skip
    assert outer.name == "95%" and inner.name == "50%" and outer.fillcolor != inner.fillcolor


def test_what_lies_under_the_pointer_is_named_with_its_unit():
    options = {"x": {"title": "Parameters N", "type": "log"}, "y": {"title": "Share right", "tickformat": ".0%"}}
    drawn = figure(*band([1, 2], [1, 2], [2, 3], BLUE, "95%"), line([1, 2], [3, 4], BLUE, "median"), **options)
    trace = line([1, 2], [3, 4], BLUE, "own", hovertemplate="said")
    drawn.add_trace(trace)
    named(drawn)
    *bands, median, custom = drawn.data
    assert all(trace.hovertemplate is None for trace in bands) and custom.hovertemplate == "said"
    assert median.hovertemplate == "Parameters N %{x:.3s}<br>Share right %{y:.0%}<extra>median</extra>"
    assert caption(drawn) == "Share right against parameters N"


def test_a_misfit_that_is_drawn_is_said():
    assert deviation(np.arange(100)) == WITHIN
    ranks = np.concatenate([np.arange(100), np.full(40, 6)])
    assert deviation(ranks).startswith("the line leaves the band between 0.07 and ")
    assert "(p < 1e-16)" in deviation(ranks)


@pytest.mark.parametrize("x, text", [(999.4e6, "999M"), (999.6e6, "1B"), (70e9, "70B"), (12.0, "12")])
def test_sizes_do_not_pass_a_thousand(x, text):
    assert si(x) == text
