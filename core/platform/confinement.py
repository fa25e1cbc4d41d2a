"""Confining this process for good: Landlock closes the data folder to it, seccomp the calls that no reading needs.

Both are the kernel's, through ctypes, and hold for whatever is started from here. Where a kernel, a container or a
processor has not got one of them, the process goes on without it and says so.

Source: Linux, Documentation/userspace-api/landlock.rst and seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import platform
import struct
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.model import StoreHealth

log = logging.getLogger(__name__)

_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1

_READ = 1 << 0 | 1 << 2 | 1 << 3  # execute, read a file, list a folder
_ALL_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""What is handled from each version on: version 1 everything but links across folders, cutting off, devices' calls."""
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""What a rule about a file may name."""

_SOCKETS = 1 << 5 | 1 << 9  # remove a file, make a socket
_OF_SOCKETS = (Path("/tmp"), Path("/var/tmp"))
"""Where LibreOffice has its sockets, whatever it is told. Files of a data folder below can be removed, and not read."""

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's name of each processor, and the column of its numbers below."""
_REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "setns": (308, 268),
    "unshare": (272, 97),
    "open_by_handle_at": (304, 265),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "settimeofday": (164, 170),
    "acct": (163, 89),
}
_SOCKET = (41, 198)
_UNIX = 1
_EPERM = 1
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | _EPERM
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_X32_BIT = 0x40000000
_JUMP_AT_LEAST = 0x35


class _Path(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def missing() -> list[str]:
    """Return what this machine has not got, by name: ``landlock``, ``seccomp``."""
    libc = ctypes.CDLL(None, use_errno=True)
    lacking = [] if _landlock_version(libc) > 0 else ["landlock"]
    has_seccomp = False
    with suppress(OSError):
        has_seccomp = "\nSeccomp:" in Path("/proc/self/status").read_text("ascii", "replace")
    return lacking if has_seccomp and platform.machine() in _MACHINES else [*lacking, "seccomp"]


@cache
def health() -> StoreHealth:
    """Return whether what reads files is confined, which the log says once where it is not."""
    if lacking := missing():
        told = f"This machine does not confine what reads files: it lacks {' and '.join(lacking)}."
        log.warning("%s A hostile document that breaks its reader can do what EvoRAG can.", told)
        return StoreHealth("parser", "child process", "open", None, told)
    return StoreHealth("parser", "Landlock, seccomp", "ok")


@dataclass(frozen=True, slots=True)
class Rooms:
    """A folder that is closed but for what lies below ``reads`` and ``writes``."""

    closed: Path
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()

    def as_text(self) -> str:
        """Return it as an argument of a program."""
        return json.dumps([str(self.closed), list(map(str, self.reads)), list(map(str, self.writes))])

    @classmethod
    def of_text(cls, text: str) -> Rooms:
        closed, reads, writes = json.loads(text)
        return cls(Path(closed), tuple(map(Path, reads)), tuple(map(Path, writes)))


def confine(rooms: Rooms | None = None) -> list[str]:
    """Refuse this process what it does not need; return what the machine could not do.

    What lies elsewhere than in the folder that is closed is as it was.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    lacking = []
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    if rooms is not None and not _close(libc, rooms.closed.resolve(), rooms.reads, rooms.writes):
        lacking.append("landlock")
    if not _filter(libc):
        lacking.append("seccomp")
    return lacking


# ---- Landlock


def _landlock_version(libc: ctypes.CDLL) -> int:
    return int(libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION)))


def _close(libc: ctypes.CDLL, closed: Path, reads: Collection[Path], writes: Collection[Path]) -> bool:
    version = _landlock_version(libc)
    if version < 1:
        return False
    handled = max(bits for since, bits in _ALL_BY_VERSION.items() if since <= version)
    wanted = ctypes.create_string_buffer(struct.pack("=Q", handled), 8)
    ruleset = int(libc.syscall(_CREATE, wanted, ctypes.c_size_t(8), ctypes.c_uint32(0)))
    if ruleset < 0:
        return False
    try:
        for place in _beside(closed):
            _allow(libc, ruleset, place, handled)
        for place in reads:
            _allow(libc, ruleset, place, handled & _READ)
        for place in writes:
            _allow(libc, ruleset, place, handled)
        for place in _OF_SOCKETS:
            _allow(libc, ruleset, place, _SOCKETS)
        return bool(libc.syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


def _beside(closed: Path) -> list[Path]:
    """Return what stands beside a folder, and beside each one above it: rules can allow, and never refuse."""
    found = []
    for folder in closed.parents:
        inner = closed if folder == closed.parent else next(each for each in closed.parents if each.parent == folder)
        with suppress(OSError):
            # A link may lead back into the folder; where it leads elsewhere, that stands beside as well.
            beside = (each for each in os.scandir(folder) if each.name != inner.name and not each.is_symlink())
            found += [Path(each.path) for each in beside]
    return found


def _allow(libc: ctypes.CDLL, ruleset: int, place: Path, allowed: int) -> None:
    """Add a rule for what lies at a place; what cannot be opened needs none."""
    with suppress(OSError):
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
        try:
            is_folder = os.path.isdir(f"/proc/self/fd/{handle}")
            rule = _Path(allowed if is_folder else allowed & _OF_FILES, handle)
            libc.syscall(
                _ADD_RULE,
                ctypes.c_int(ruleset),
                ctypes.c_int(_PATH_BENEATH),
                ctypes.byref(rule),
                ctypes.c_uint32(0),
            )
        finally:
            os.close(handle)


# ---- seccomp


def _filter(libc: ctypes.CDLL) -> bool:
    """Have the kernel refuse calls that no reading needs, and sockets that are not of this machine's files."""
    if platform.machine() not in _MACHINES:
        return False
    name, column = _MACHINES[platform.machine()]
    refused = [numbers[column] for numbers in _REFUSED.values()]
    program = [
        _step(_LOAD, 4),
        _step(_JUMP_EQUAL, name, 1, 0),
        _step(_RETURN, _REFUSE),
        _step(_LOAD, 0),
        # Calls by the numbers of the x32 interface would pass by those that are refused.
        _step(_JUMP_AT_LEAST, _X32_BIT, 0, 1),
        _step(_RETURN, _REFUSE),
        _step(_JUMP_EQUAL, _SOCKET[column], 0, 3),
        _step(_LOAD, 16),
        _step(_JUMP_EQUAL, _UNIX, 0, 2 + len(refused) * 2),
        _step(_RETURN, _ALLOW),
    ]
    for number in refused:
        program += [_step(_JUMP_EQUAL, number, 0, 1), _step(_RETURN, _REFUSE)]
    program += [_step(_RETURN, _ALLOW), _step(_RETURN, _REFUSE)]
    code = ctypes.create_string_buffer(b"".join(program))
    told = _Program(len(program), ctypes.cast(code, ctypes.c_void_p))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(told), 0, 0) == 0)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
