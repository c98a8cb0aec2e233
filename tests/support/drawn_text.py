"""Pages of text as images, as a scanner or a camera makes them."""

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"


def drawn(
    text: str, *, font: str = FONT, points: int = 28, width: int = 1654, height: int = 2339
) -> Image.Image:
    """A page with the paragraphs of a text. 28 pixels are 10 points at 200 dots per inch."""
    page = Image.new("RGB", (width, height), "white")
    pen, shape, top = ImageDraw.Draw(page), ImageFont.truetype(font, points), points * 3
    for paragraph in text.split("\n\n"):
        words = paragraph.split() if " " in paragraph else list(paragraph)
        glue, line = " " if " " in paragraph else "", ""
        for word in words:
            longer = f"{line}{glue}{word}" if line else word
            if pen.textlength(longer, font=shape) > width - 6 * points:
                pen.text((3 * points, top), line, font=shape, fill="black")
                top, longer = top + int(1.4 * points), word
            line = longer
        pen.text((3 * points, top), line, font=shape, fill="black")
        top += int(2.4 * points)
    return page


def as_file(page: Image.Image, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    page.save(file, kind)
    return file.getvalue()


def scan_of(pages: Sequence[Image.Image], dots: int = 200) -> bytes:
    """A PDF whose pages are images."""
    file = io.BytesIO()
    pages[0].save(file, "PDF", save_all=True, append_images=list(pages[1:]), resolution=dots)
    return file.getvalue()
