"""The line of a user's own code at which an error was raised: what a refusal is told with."""

import linecache
import sys
import traceback

from ..errors import CdlError


LIBRARIES = {"cdl", "equinox", "jax", "jaxlib", "numpy", *sys.stdlib_module_names} - {"__main__"}


def users_line(error: BaseException) -> tuple[str, int, str] | None:
    """The last line on the way to an error that is not in a library: its text, number and file. `None`, if none is.

    Of the way only the part below the handler is looked at, so call it where the error is caught.
    """
    found = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in LIBRARIES:
            found = frame, number
    if found is None:
        return None
    (frame, number), path = found, found[0].f_code.co_filename
    return linecache.getline(path, number, frame.f_globals).strip(), number, path


def told(words: str, error: BaseException) -> CdlError:
    """A `CdlError`, with a note of the user's line that raised the other error, for the traceback to show."""
    refused = CdlError(words)
    if (line := users_line(error)) is not None:
        text, number, path = line
        refused.add_note(f"It is line {number} of {path}{text and f': `{text}`'}.")
    return refused
