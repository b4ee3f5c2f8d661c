"""Saves the pictures in `tutorials/images`; the card, which has to be a PNG, where Chromium is installed."""

import pathlib
import shutil
import subprocess
import tempfile

from .example import example
from .ink import LIGHT
from .logo import card
from .pictures import pictures


IMAGES = pathlib.Path(__file__).parents[1] / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def save_card(into: pathlib.Path) -> bool:
    """Whether there is a Chromium to draw it."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "card.svg"
        page.write_text(card(example(), LIGHT), encoding="utf-8")
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,630"]
        shot = [program, *flags, f"--user-data-dir={folder}/profile", f"--screenshot={into}", page.as_uri()]
        subprocess.run(shot, check=True, stderr=subprocess.DEVNULL)
    return True


if __name__ == "__main__":
    for name, svg in pictures().items():
        (IMAGES / name).write_text(svg, encoding="utf-8")
    if not save_card(IMAGES / "card.png"):
        print("images/card.png is as it was: Chromium, which draws it, is not installed.")
