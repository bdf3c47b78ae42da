"""Rules of Windows for every Python process that finds this folder on its path (`make windows`).

What it enforces, on Linux, for the tests and all processes that they start:

- a file that is open or mapped in this process cannot be replaced, renamed or removed;
- ``os.open`` without ``O_BINARY`` turns line ends around;
- a text file that our code opens is cp1252 and has ``\\r\\n`` unless it says otherwise;
- there is no fcntl, resource, pty or termios for our code; msvcrt locks bytes for one handle,
  and no other handle can read them.

What it cannot show: drive letters, names without regard to case, signals, files that another
process holds open. The static half, functions that Windows lacks, is ``mypy --platform win32``.
"""

import builtins
import errno
import importlib
import io
import os
import sys
import tempfile
import types
from typing import Any

MISSING = frozenset({"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"})
OURS = ("calipers", "tests", "__main__", "_pytest.outcomes")
BINARY = 1 << 28  # a bit that no flag of Linux has
TEXT_FILES: set[int] = set()
LOCKED_BYTE = 1 << 40

_import, _open, _os_open = builtins.__import__, io.open, os.open
_write, _read, _close = os.write, os.read, os.close
_replace, _rename, _remove = os.replace, os.rename, os.remove


def _in_use(path: Any, folder: int | None = None) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    name = os.fsdecode(path)
    if folder is not None:
        name = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
    parent, last = os.path.split(os.path.abspath(name))
    place = os.path.join(os.path.realpath(parent), last)
    inside = f"{place}/"
    for one in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{one}")
        except OSError:
            continue
        held = target == place or target.startswith(inside)
        # rmtree itself holds the folders that it empties.
        if held and not target.endswith(" (deleted)") and not os.path.isdir(target):
            return True
    with _open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return any(line.rstrip("\n").endswith(f" {place}") for line in maps)


def _refuse(path: Any) -> None:
    error = PermissionError(
        errno.EACCES,
        "The process cannot access the file because it is being used by another process",
        os.fspath(path),
    )
    error.winerror = 32  # type: ignore[attr-defined,unused-ignore]
    raise error


def _moving(real: Any) -> Any:
    def move(source: Any, target: Any, **folders: Any) -> None:
        for path, folder in ((source, "src_dir_fd"), (target, "dst_dir_fd")):
            if _in_use(path, folders.get(folder)):
                _refuse(path)
        if real is _rename and os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "Cannot create a file when that exists", target)
        real(source, target, **folders)

    return move


def _removing(path: Any, *, dir_fd: int | None = None) -> None:
    if _in_use(path, dir_fd):
        _refuse(path)
    _remove(path, dir_fd=dir_fd)


def _opening(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
    file = _os_open(path, flags & ~BINARY, mode, dir_fd=dir_fd)
    if not flags & (BINARY | os.O_DIRECTORY):
        TEXT_FILES.add(file)
    else:
        TEXT_FILES.discard(file)
    return file


def _writing(file: int, content: Any) -> int:
    if file in TEXT_FILES:
        _write(file, bytes(content).replace(b"\n", b"\r\n"))
        return len(content)
    return _write(file, content)


def _reading(file: int, size: int) -> bytes:
    content = _read(file, size)
    return content.replace(b"\r\n", b"\n") if file in TEXT_FILES else content


def _closing(file: int) -> None:
    TEXT_FILES.discard(file)
    _close(file)


def _text(
    file: Any,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *rest: Any,
    **others: Any,
) -> Any:
    if isinstance(file, int):
        TEXT_FILES.discard(file)  # Python makes it binary itself
    if "b" not in mode and _is_ours():
        encoding = "cp1252" if encoding in (None, "locale") else encoding
        if newline is None and "+" not in mode and "r" not in mode:
            newline = "\r\n"
    return _open(file, mode, buffering, encoding, errors, newline, *rest, **others)


def _is_ours() -> bool:
    """Whether our code asks, by itself or through the standard library."""
    frame: Any = sys._getframe(2)
    while frame and frame.f_globals.get("__name__") in (
        "pathlib",
        "subprocess",
        "tempfile",
        "gzip",
    ):
        frame = frame.f_back
    return bool(frame) and str(frame.f_globals.get("__name__")).startswith("calipers")


def _importing(name: str, scope: Any = None, *rest: Any, **others: Any) -> Any:
    if name in MISSING and scope and str(scope.get("__name__", "")).startswith(OURS):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _import(name, scope, *rest, **others)


def _msvcrt() -> types.ModuleType:
    import fcntl

    module = types.ModuleType("msvcrt")
    module.LK_NBLCK, module.LK_UNLCK = 2, 0  # type: ignore[attr-defined]

    def locking(file: int, mode: int, size: int) -> None:
        place = os.lseek(file, 0, os.SEEK_CUR)
        if place < LOCKED_BYTE or size != 1:
            raise AssertionError("a lock among the content: other handles could not read it")
        try:
            fcntl.flock(file, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PermissionError(errno.EACCES, "Permission denied") from None

    module.locking = locking  # type: ignore[attr-defined]
    return module


def _enforce() -> None:
    # Not in sys.modules: the standard library would take it for a sign of Windows itself.
    locks, load = _msvcrt(), importlib.import_module

    def load_here(name: str, package: str | None = None) -> types.ModuleType:
        # What asks for it here is our lock, or a test that is skipped without it.
        if name in MISSING and str(sys._getframe(1).f_globals["__name__"]).startswith(OURS):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return locks if name == "msvcrt" else load(name, package)

    vars(importlib)["import_module"] = load_here
    vars(os).update(
        O_BINARY=BINARY,
        replace=_moving(_replace),
        rename=_moving(_rename),
        remove=_removing,
        unlink=_removing,
        open=_opening,
        write=_writing,
        read=_reading,
        close=_closing,
    )
    vars(builtins).update(open=_text, __import__=_importing)
    vars(io)["open"] = _text
    flags = vars(tempfile)["_bin_openflags"] | BINARY
    vars(tempfile).update(TemporaryFile=tempfile.NamedTemporaryFile, _bin_openflags=flags)


_enforce()
