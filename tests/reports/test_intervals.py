"""A quantity has one interval on a page, wherever the page states it."""

import pytest

SECOND = "0.530 [0.101, 0.902]"
PLANTED = {
    "prose": f"<p>Under the coupled law the exponent is {SECOND}.</p>",
    "another order": f"<p>It grows as compute to the power {SECOND} under the coupled law.</p>",
    "table": "<figure><figcaption><b>Table 9.</b> Again</figcaption><table><tr><th>law</th><th>exponent a</th></tr>"
    f"<tr><th>coupled</th><td>{SECOND}</td></tr></table></figure>",
}
PAGE = "<h2>How big should the next model be?</h2><p>Under the coupled law the exponent is 0.530 [0.498, 0.561].</p>"
OTHERS = (
    "<p>Under the offsets law the exponent is 0.530 [0.400, 0.617].</p>",
    "<p>Under the coupled law the exponent is 0.53 [0.50, 0.56].</p>",
    "<p>With one sigma the exponent is 0.530 [0.500, 0.551] under the coupled law.</p>",
    "<p>Hoffmann et al. wrote that the exponent is 0.530 [0.520, 0.540].</p>",
)


def test_the_report_gives_no_quantity_two_intervals(report, two_intervals):
    pages = [path.read_text(encoding="utf-8") for path in sorted(report[0].glob("*.html"))]
    pairs, compared = two_intervals("".join(pages))
    assert pairs == [] and compared > 40, compared


@pytest.mark.parametrize("place", PLANTED)
def test_a_second_interval_is_found(place, two_intervals):
    pairs, _ = two_intervals(PAGE + PLANTED[place])
    assert len(pairs) == 1 and SECOND in pairs[0][1]


@pytest.mark.parametrize("place", PLANTED)
def test_a_second_interval_is_found_in_a_report(place, report, two_intervals):
    text = (report[0] / "appendix.html").read_text(encoding="utf-8")
    row = next(part for part in text.split("<tr") if 'scope="row">coupled' in part and "[0." in part)
    middle = row.partition("[0.")[0].rpartition(">")[2].strip()
    planted = PLANTED[place].replace("0.530", middle)
    pairs, _ = two_intervals(text.replace("</main>", f"{planted}</main>"))
    assert pairs and all("[0.101, 0.902]" in " ".join(pair) for pair in pairs)


@pytest.mark.parametrize("other", OTHERS)
def test_another_law_noise_or_rounding_is_no_second_interval(other, two_intervals):
    assert two_intervals(PAGE + other) == ([], 1 if "et al." in other else 2)
