"""A report as a browser shows it: widths, light and dark, keyboard, hover, downloads and print."""

import csv
import json
import re
import shutil
from pathlib import Path

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.commands import parsing

SCALES = {"k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright's package")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
OVERLAPS = (Path(__file__).parent / "in_browser.js").read_text(encoding="utf-8").partition("\n")[2]
PRINTED = 680  # pixels
OPEN_ALL = "for (const each of document.querySelectorAll('main details')) each.open = true"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, report):
    """Return a function that opens the report in a new window; check afterwards that nothing was fetched or failed."""
    contexts, failed = [], []

    def open_page(width=1280, scheme="light", place="", file="index.html", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: failed.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.on("request", lambda asked: failed.append(asked.url) if asked.url.startswith("http") else None)
        page.goto((report[0] / file).as_uri() + place)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert failed == []


@pytest.mark.parametrize("file", ["index.html", "how-big.html", "appendix.html"])
@pytest.mark.parametrize("width", [360, 1280, 1920])
def test_no_text_of_a_figure_is_covered_or_cut(opened, width, file):
    page = opened(width, file=file)
    assert page.locator("figure.drawn svg").count() >= 2
    assert page.evaluate(OVERLAPS) == {}
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_search_for_covered_texts_finds_them(opened):
    page = opened()
    move = "const texts = [...document.querySelectorAll('.wide-only svg text')];"
    move += "texts[0].setAttribute('transform', 'translate(-30 40)');"
    page.evaluate(move + "for (const each of texts.slice(1)) each.setAttribute('transform', 'translate(50 50)')")
    overlaps = page.evaluate(OVERLAPS)["figure-1"]
    assert any(overlap.startswith("cut: ") for overlap in overlaps) and any(" / " in overlap for overlap in overlaps)


@pytest.mark.parametrize("file", ["index.html", "how-big.html", "appendix.html"])
@pytest.mark.parametrize("width, scheme", [(360, "light"), (1280, "dark")])
def test_nobody_is_kept_from_reading_it(opened, width, scheme, file):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = opened(width, scheme, file=file)
    page.evaluate(OPEN_ALL)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 24, 39)"
    assert dark == (scheme == "dark")
    violations = axe.Axe().run(page).response["violations"]
    assert [(rule["id"], rule["impact"]) for rule in violations if rule["impact"] in ("serious", "critical")] == []


def test_the_first_screen_needs_no_script(opened):
    page = opened(java_script_enabled=False)
    assert page.locator(".card .answer").first.is_visible()
    assert page.locator("#figure-1 .wide-only svg").is_visible()
    assert not page.locator("form.budget").is_visible()


MORE = "a[aria-label^='More']"
QUESTIONS = {
    "how sure is that?": (MORE, "p:has(.dots)"),
    "what would change it?": (MORE, "text=What would change it"),
    "what is the number for my budget?": (None, "#budget"),
    "where is the data?": ("header >> text=Data", "#data"),
    "how do I quote it?": (MORE, "blockquote"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_five_questions_are_answered_within_one_click(opened, question):
    page, (link, place) = opened(), QUESTIONS[question]
    if link:
        page.locator(link).first.click()
    page.locator(place).first.wait_for(state="visible")


def test_light_and_dark_are_chosen_by_a_button(opened):
    page = opened(scheme="light")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 24, 39)"


def test_a_figure_is_drawn_in_the_colours_of_the_page(opened):
    of_paper = "getComputedStyle(document.querySelector('.narrow-only svg path')).fill"
    assert opened(scheme="light").evaluate(of_paper) == "rgb(255, 255, 255)"
    dark = opened(scheme="dark")
    assert dark.evaluate(of_paper) == "rgb(17, 24, 39)"
    dark.locator("#theme").click()
    assert dark.evaluate(of_paper) == "rgb(255, 255, 255)"


def test_an_answer_is_saved_as_an_image_and_its_link_is_copied(opened, tmp_path):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    for card in page.locator(".card").all():
        with page.expect_download() as waiting:
            card.locator(".shared").click()
        image = (waiting.value.save_as(tmp_path / "a.png"), (tmp_path / "a.png").read_bytes())[1]
        assert waiting.value.suggested_filename == f"{card.get_attribute('id')}.png"
        assert image.startswith(b"\x89PNG") and [*map(int.from_bytes, (image[16:20], image[20:24]))] == [1200, 630]
        card.locator(".copied").click()
        page.wait_for_function("document.querySelector('.card:target .copied').textContent === 'copied'")
        assert page.evaluate("navigator.clipboard.readText()") == page.url
        assert page.url.endswith(f"#{card.get_attribute('id')}")
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".card .shared")].flatMap(link => {
          const bytes = Uint8Array.from(atob(link.href.split("base64,")[1]), c => c.charCodeAt(0));
          document.body.insertAdjacentHTML("beforeend", new TextDecoder().decode(bytes));
          const drawing = document.body.lastElementChild, texts = [...drawing.querySelectorAll("text")];
          const boxes = texts.map(text => text.getBBox()), bottom = at => at.y + at.height;
          const bad = texts.filter((_, i) => boxes[i].x + boxes[i].width > 1176 || boxes[i].y < 0 ||
            bottom(boxes[i]) > (boxes[i + 1] ? boxes[i + 1].y + 8 : 630));
          drawing.remove();
          return bad.map(text => text.textContent);
        })"""
    )
    assert cut == []


def test_an_image_of_an_answer_needs_no_script(opened, tmp_path):
    page = opened(java_script_enabled=False)
    with page.expect_download() as waiting:
        page.locator(".card .shared").first.click()
    waiting.value.save_as(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<svg") and waiting.value.suggested_filename.endswith(".svg")


def test_tables_and_figures_are_downloaded(opened, tmp_path):
    page = opened(file="appendix.html")

    def download(selector):
        with page.expect_download() as waiting:
            page.locator(selector).click()
        waiting.value.save_as(tmp_path / waiting.value.suggested_filename)
        return (tmp_path / waiting.value.suggested_filename).read_bytes()

    shown = page.locator("#table-2 tbody tr").count()
    header, *rows = csv.reader(download("#table-2 .tools button").decode().splitlines())
    assert len(rows) == shown and "tokens per parameter" in header and {len(row) for row in rows} == {len(header)}
    svg = download("#figure-1 .tools button:text('SVG')")
    assert svg.startswith(b"<svg") and b"light-dark" not in svg
    assert download("#figure-1 .tools button:text('PNG')").startswith(b"\x89PNG")
    header, *rows = csv.reader(download("#figure-1 .tools button:text('CSV')").decode().splitlines())
    assert header == ["series", "kind", "x", "y", "low", "high"] and {"Hoffmann et al. 2022"} <= {
        row[0] for row in rows
    }


def test_a_table_is_sorted_by_its_numbers(opened):
    page = opened(file="appendix.html")
    table = page.locator("#table-2")
    head = table.locator("th", has_text="parameters").first

    def column():
        return [text.split()[0] for text in table.locator("tbody td:nth-child(2)").all_text_contents()]

    rising = column()
    head.locator("button").click()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending" and column() == rising[::-1]
    assert {text[-1] for text in rising} <= {"M", "B", "T"}


@pytest.mark.parametrize(
    ("text", "flop"),
    [("1e24 FLOP", "1e24"), ("2.5 YFLOP", "2.5e24"), ("500 PF-days", "4.3e22"), ("10k H100-hours", "1.4e22"),
     ("1,000 EFLOP", "1e21"), ("10000 H100 hours", "1.4e22"), ("3*10^23", "3e23"), ("3 x 10^23 FLOPs", "3e23"),
     ("100PF-days", "8.6e21"), ("5e5 A100-hours", "2.2e23"), ("20 PFLOP/s-days", "1.7e21")],
)  # fmt: skip
def test_a_budget_may_have_other_units_on_the_page_and_the_command_line(opened, text, flop):
    page = opened()
    page.locator("#budget").fill(text)
    assert page.locator("#at-budget").text_content().startswith(f"At {flop} FLOP: ")
    assert parsing.flop(text, "--compute") == pytest.approx(float(flop), rel=0.03)
    for strange in ("10 apples", "-1e24", "1e24 days", "1e40", "1e", "1 s"):
        page.locator("#budget").fill(strange)
        assert page.locator("#at-budget").text_content().startswith("Give a budget from 1e17 to 1e28 FLOP"), strange


def test_a_slider_chooses_the_budget(opened):
    page = opened()
    page.locator("#budget-slider").fill("23")
    assert page.locator("#budget").input_value() == "1e23 FLOP"
    assert page.locator("#at-budget").text_content().startswith("At 1e23 FLOP: ")


def test_the_field_has_the_numbers_of_the_card(opened, report):
    page = opened()
    document = json.loads((report[0] / "results.json").read_text(encoding="utf-8"))
    (card,) = document["answers"]
    page.locator("#budget").fill("1e24 FLOP")
    text = page.locator("#at-budget").text_content()
    assert card["number"] in text and re.search(r"(\S+) tokens", card["doubt"])[1] in text
    rival = re.search(r", or (\S+) \[.+?\] under (the \w+ law), which", card["answer"])
    assert f", or {rival[1]} under {rival[2]}" in text


def test_the_contents_follow_the_reader(opened):
    page = opened(file="appendix.html")
    page.locator("#chinchilla").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('cite').scrollIntoView()")
    page.wait_for_function("document.querySelector('.contents a.here').hash === '#cite'")
    assert page.locator(".contents a[aria-current]").count() == 1
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("document.querySelector('.contents a.here').hash === '#chinchilla'")


@pytest.mark.parametrize("budget", [3e21, 2e24])
def test_a_budget_of_ones_own_is_answered_as_allocate_does(opened, report, budget):
    page = opened()
    document = json.loads((report[0] / "results.json").read_text(encoding="utf-8"))
    law = document["optimum"]["law"]
    at = bs.open(report[0] / "posteriors" / f"{law}.nc").allocate(budget)
    page.locator("#budget").fill(f"{budget:g}")
    text = page.locator("#at-budget").text_content()
    for name in ("parameters", "tokens"):
        interval = re.search(rf"(\S+) \[(\S+), (\S+)\] {name}", text).groups()
        middle, low, high = (float(x[:-1]) * SCALES[x[-1]] for x in interval)
        assert [low, middle, high] == pytest.approx(np.quantile(at[name], [0.025, 0.5, 0.975]), rel=0.02)
    beyond = float(at["extrapolation"].values[0])
    assert (f"{10**beyond:.0f} times the largest run" if beyond > 0 else "not above the largest run") in text
    grades = ("weak", "fair", "strong")
    strength = re.search(r"Strength: (strong|fair|weak)\.", text)[1]
    assert strength == "weak" if beyond > 1 else strength in grades
    assert grades.index(strength) <= grades.index(document["answers"][0]["grades"]["law"])
    page.locator("#budget").fill("many")
    assert "Give a budget" in page.locator("#at-budget").text_content()
    assert page.locator("#budget").get_attribute("aria-invalid") == "true"


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("file, most", [("how-big.html", 1), ("index.html", 2)])
def test_a_claim_is_printed_on_one_page_and_the_first_screen_on_two(opened, file, most, paper):
    assert len(re.findall(rb"/Type\s*/Page\b", opened(file=file).pdf(format=paper))) <= most


def test_on_paper_everything_is_there_and_as_wide_as_the_paper(opened):
    page = opened(file="appendix.html")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    widths = page.evaluate(
        """() => [...document.querySelectorAll("main table, main svg")]
          .map(each => Math.round(each.getBoundingClientRect().width)).filter(width => width)"""
    )
    assert len(widths) > 8 and max(widths) <= PRINTED
    assert page.pdf(format="A4").startswith(b"%PDF")
