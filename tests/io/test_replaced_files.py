"""How a checkpoint gets onto the disk: at every moment, and whatever else happens, one whole file has the name."""

import os
import signal
import stat
import threading

import jax.numpy as jnp
import numpy as np
import pytest
from alone import run_alone


OLD, NEW = jnp.zeros(2), jnp.ones(2)


def save(path, value):
    from cdl.io import save

    save(path, value)


def holds(path, value):
    from cdl.io import load

    return bool((load(path, OLD) == value).all())


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.fixture
def path(tmp_path):
    save(tmp_path / "a", OLD)
    return tmp_path / "a"


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_where_writing_fails_the_old_file_stays_and_nothing_else(path, tmp_path, monkeypatch, broken):
    def fails(*_):
        raise OSError("no room")

    monkeypatch.setattr(os, broken, fails)
    with pytest.raises(OSError, match="no room"):
        save(path, NEW)
    assert names(tmp_path) == ["a"]
    assert holds(path, OLD)


def test_save_writes_content_then_name_then_folder(path, monkeypatch):
    events = []
    sync, replace = os.fsync, os.replace

    def synced(file):
        events.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else f"file of {os.fstat(file).st_size}")
        sync(file)

    def replaced(source, target):
        events.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    save(path, NEW)
    assert events == [f"file of {path.stat().st_size}", "name", "folder"]


def test_save_succeeds_in_many_threads_at_one_path(path, tmp_path):
    errors, begin = [], threading.Barrier(8)

    def many(i):
        begin.wait()
        for _ in range(20):
            try:
                save(path, np.full(1000, i))
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=many, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert names(tmp_path) == ["a"]
    from cdl.io import load

    assert len(set(load(path, np.zeros(1000, int)).tolist())) == 1


def test_save_does_not_follow_a_link_at_the_name_of_a_part(path, tmp_path, monkeypatch):
    from cdl.io import _replace

    precious = tmp_path / "precious"
    precious.write_text("precious")
    for planted in (f"a.{os.getpid()}.part", ".cdl-guessed.part"):
        (tmp_path / planted).symlink_to(precious)
    save(path, NEW)
    assert holds(path, NEW)
    monkeypatch.setattr(_replace.secrets, "token_hex", lambda n: "guessed")
    with pytest.raises(FileExistsError):
        save(path, OLD)
    assert precious.read_text() == "precious"
    assert (tmp_path / ".cdl-guessed.part").is_symlink()
    assert holds(path, NEW)


def test_a_save_through_a_link_replaces_what_it_points_to(path, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link, dangling = tmp_path / "elsewhere" / "link", tmp_path / "elsewhere" / "dangling"
    link.symlink_to(path)
    dangling.symlink_to(tmp_path / "b")
    save(link, NEW)
    save(dangling, NEW)
    assert link.is_symlink()
    assert dangling.is_symlink()
    assert holds(path, NEW)
    assert holds(tmp_path / "b", NEW)
    assert names(tmp_path / "elsewhere") == ["dangling", "link"]
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(OSError, match="symbolic links"):
        save(link, NEW)
    assert link.is_symlink()


def test_save_keeps_permissions_and_is_never_readable_by_more(path, monkeypatch):
    seen, change = [], os.fchmod
    monkeypatch.setattr(
        os,
        "fchmod",
        lambda file, mode: seen.append(os.fstat(file).st_mode & 0o777) or change(file, mode),
    )
    for mode in (0o600, 0o640, 0o666, 0o444):
        path.chmod(mode)
        save(path, NEW)
        assert path.stat().st_mode & 0o777 == mode
        assert seen.pop() & ~mode == 0


def test_save_takes_any_name_of_a_file(tmp_path):
    every = ["n" * 255, "a\nb", "-rf", " ", "ü☃", ".hidden", "a.part", "%s{}"]
    for name in every * 2:
        save(tmp_path / name, NEW)
        assert holds(tmp_path / name, NEW)
    assert names(tmp_path) == sorted(every)


def killed_while_saving() -> None:
    """Saves in a process of its own, which is killed before its content is on the disk."""
    child = os.fork()
    if child == 0:
        os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        save("a", np.ones(2, np.float32))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_save_takes_no_harm_of_what_a_kill_leaves(path, tmp_path):
    run_alone(killed_while_saving, tmp_path)
    (left,) = (name for name in names(tmp_path) if name != "a")
    assert left.startswith(".cdl-")
    assert left.endswith(".part")
    assert holds(path, OLD)
    save(path, NEW)
    assert holds(path, NEW)
