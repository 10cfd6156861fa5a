"""The image of an answer to share: one plain SVG with its number, its doubt and its source."""

import base64
import textwrap

from markupsafe import Markup, escape

WIDTH, HEIGHT, LEFT = 1200, 630, 64  # pixels, the size in which sites show the image of a link
INK, SOFT, BLUE, PAPER = "#1f2937", "#4b5563", "#1f5f99", "#ffffff"
ACROSS = 0.55  # mean width of a character, in font sizes
FONT = "Inter, Helvetica, Arial, sans-serif"
NUMBER, ANSWER, DOUBT, SOURCE = 64, 36, 26, 20  # font sizes; that of the number is the largest
LINES = 4  # of an answer or a doubt, at most


def share_image(answer, source):
    """Return the image of an answer as a data URI: an SVG of 1200 by 630 pixels, which needs nothing else.

    The source, below the answer, states what made the number and when.

    Examples
    --------
    >>> answer = {"question": "How fast?", "answer": "In 10 [9, 11] months.", "number": "10 [9, 11] months"}
    >>> share_image(answer | {"doubt": "Few runs.", "strength": "weak"}, "bayescaling")[:26]
    'data:image/svg+xml;base64,'
    """
    top, drawn = 92, [_text(92, 28, SOFT, answer["question"])]
    if answer["number"] in answer["answer"]:
        top += 94
        fitting = int((WIDTH - 2 * LEFT) / (ACROSS * len(answer["number"])))
        drawn.append(_text(top, min(NUMBER, fitting), BLUE, answer["number"], weight="bold"))
    for size, colour, text in ((ANSWER, INK, answer["answer"]), (DOUBT, SOFT, answer["doubt"])):
        top += 24
        for line in _wrapped(text, size):
            top += round(1.34 * size)
            drawn.append(_text(top, size, colour, line))
    drawn.append(_text(HEIGHT - 78, DOUBT, INK, f"Strength: {answer['strength']}", weight="bold"))
    drawn += [_text(HEIGHT - 40, SOURCE, SOFT, line) for line in _wrapped(source, SOURCE, 1)]
    svg = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="{2}">'
        '<rect width="{0}" height="{1}" fill="{3}"/><rect width="16" height="{1}" fill="{4}"/>{5}</svg>'
    ).format(WIDTH, HEIGHT, FONT, PAPER, BLUE, Markup("").join(drawn))
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _wrapped(text, size, lines=LINES):
    return textwrap.wrap(text, int((WIDTH - 2 * LEFT) / (ACROSS * size)), max_lines=lines, placeholder=" …")


def _text(y, size, colour, text, *, weight="normal"):
    return Markup('<text x="{}" y="{}" font-size="{}" fill="{}" font-weight="{}">{}</text>').format(
        LEFT, y, size, colour, weight, escape(text)
    )
