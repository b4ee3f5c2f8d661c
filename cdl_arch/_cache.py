"""JAX's compilation cache on disk: a program that was compiled once, in whatever process, is read the next time."""

import contextlib
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache


def folder() -> Path:
    """Where the programs are kept: in the user's folder for caches, those of each machine by themselves, since they are
    made for its processor."""
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "cdl_arch" / "programs" / (platform.node() or "unnamed")


@contextlib.contextmanager
def kept_programs(wanted: bool = True) -> Iterator[None]:
    """Inside, what takes long to compile is kept in `folder`. Nothing is changed where it is not `wanted`, where the
    user has set a folder (`jax_compilation_cache_dir`), or none (`jax_enable_compilation_cache`)."""
    config: Any = jax.config
    if not wanted or config.jax_compilation_cache_dir or not config.jax_enable_compilation_cache:
        yield
        return
    try:
        compilation_cache.reset_cache()
        config.update("jax_compilation_cache_dir", str(folder()))
        yield
    finally:
        config.update("jax_compilation_cache_dir", None)
        compilation_cache.reset_cache()
