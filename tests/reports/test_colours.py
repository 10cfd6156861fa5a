"""Colours differ to readers who see no green, no red or no blue; where two do not, their dashes differ."""

import itertools

import numpy as np
import pytest
from bayescaling.inference.words import si
from bayescaling.plots.style import BLUE, PUBLISHED, SERIES

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
    looks = [(BLUE, "solid"), *(look[:2] for look in PUBLISHED.values())]
    for (one, dash), (other, another) in itertools.combinations(looks, 2):
        assert difference(one, other, seen) > APART and dash != another


@pytest.mark.parametrize("seen", SEEN)
def test_curves_of_a_figure_are_told_apart_by_colour_or_dash(seen):
    for (one, dash, _), (other, another, _) in itertools.combinations(SERIES, 2):
        assert dash != another or difference(one, other, seen) > APART


@pytest.mark.parametrize("x, text", [(999.4e6, "999M"), (999.6e6, "1B"), (70e9, "70B"), (12.0, "12")])
def test_sizes_do_not_pass_a_thousand(x, text):
    assert si(x) == text
