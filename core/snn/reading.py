"""Reads a file of ``torch.save`` as data: nothing in it is run, and no size in it is believed.

Such a file is a zip archive, without compression, of one program for the pickle machine and of the bytes of tensors.
The few instructions that plain tensors, lists, dictionaries, strings and numbers need are interpreted here as what
they describe; any other, and any name but those of tensors, refuses the file. Sizes and strides are compared with the
bytes that are there before anything is taken into memory.
"""

from __future__ import annotations

import pickletools
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from core.errors import UnreadableRecording

MOST_MEMBERS = 100_000
MOST_PROGRAM_BYTES = 4 * 1024 * 1024
MOST_DEPTH = 8
MOST_KEY_CHARS = 200
MOST_NAME_CHARS = 100
END_BYTES = 22
LOCATOR_BYTES = 20
DIRECTORY_ENTRY_BYTES = 200

STORAGES: Mapping[str, np.dtype[Any]] = {
    "DoubleStorage": np.dtype("<f8"),
    "FloatStorage": np.dtype("<f4"),
    "HalfStorage": np.dtype("<f2"),
    "BFloat16Storage": np.dtype("<u2"),
    "LongStorage": np.dtype("<i8"),
    "IntStorage": np.dtype("<i4"),
    "ShortStorage": np.dtype("<i2"),
    "CharStorage": np.dtype("i1"),
    "ByteStorage": np.dtype("u1"),
    "BoolStorage": np.dtype("u1"),
}
TENSOR = "torch._utils _rebuild_tensor_v2"
ORDERED = "collections OrderedDict"
NAMES = {TENSOR, ORDERED, *(f"torch {name}" for name in STORAGES)}


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that the program mentions; it is never looked up."""

    text: str


@dataclass(frozen=True, slots=True)
class _Storage:
    kind: str
    values: npt.NDArray[Any]


def read(path: Path, limit_bytes: int) -> Any:
    """Return the value of the file: dictionaries, lists, tuples, strings, numbers, None, and arrays for tensors.

    Neither the file nor its tensors together are larger than ``limit_bytes``. Raises: ``UnreadableRecording``.
    """
    try:
        with path.open("rb") as file:
            if path.stat().st_size > limit_bytes:
                raise refused(f"it is larger than {limit_bytes:,} bytes")
            if file.read(4) != b"PK\x03\x04":
                raise refused("it is no archive as torch.save writes it")
            _check_directory(file, path.stat().st_size)
            with zipfile.ZipFile(file) as archive:
                value = _Program(archive, limit_bytes).run()
        return _plain(value)
    except UnreadableRecording:
        raise
    except (zipfile.BadZipFile, EOFError) as error:
        raise refused("it is cut off or damaged") from error
    except (ValueError, TypeError, LookupError, OverflowError, NotImplementedError, RuntimeError) as error:
        raise refused("it is damaged, or was made to look like a recording") from error
    except (OSError, MemoryError, struct.error) as error:
        raise refused("it cannot be read") from error


def refused(reason: str) -> UnreadableRecording:
    return UnreadableRecording(f"The recording was refused: {reason}.")


def checked_name(text: str) -> str:
    """Return a name as it is. Raises: ``UnreadableRecording`` where it is none."""
    if not text.isprintable() or not 0 < len(text) <= MOST_NAME_CHARS:
        raise refused("a name in it is none, or too long")
    return text


def _check_directory(file: IO[bytes], size: int) -> None:
    """Refuse an archive whose list of members is longer than any recording's, before it is read."""
    file.seek(max(0, size - END_BYTES - LOCATOR_BYTES))
    end = file.read()
    if len(end) < END_BYTES + LOCATOR_BYTES or end[-END_BYTES:][:4] != b"PK\x05\x06" or end[-2:] != b"\0\0":
        raise refused("it is cut off or damaged")
    length = struct.unpack_from("<L", end, LOCATOR_BYTES + 12)[0]
    if end[:4] == b"PK\x06\x07":
        start = struct.unpack_from("<Q", end, 8)[0]
        if start > size - 56:
            raise refused("it is cut off or damaged")
        file.seek(start)
        length = struct.unpack_from("<Q", file.read(56), 40)[0]
    if length > MOST_MEMBERS * DIRECTORY_ENTRY_BYTES:
        raise refused("it has more parts than a recording")
    file.seek(0)


class _Program:
    """The machine: a stack, its marks and a memory, as in pickle, with tensors, texts and numbers alone."""

    def __init__(self, archive: zipfile.ZipFile, limit_bytes: int) -> None:
        self._archive = archive
        self._left = limit_bytes
        self._members = _members(archive, limit_bytes)
        self._folder, program = _program(self._members)
        if self._members.get(f"{self._folder}byteorder") and self._read("byteorder") != b"little":
            raise refused("its bytes are in another order than on this machine")
        self._code = archive.read(program)
        self._storages: dict[str, _Storage] = {}
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memory: dict[int, Any] = {}

    def run(self) -> Any:
        for instruction, argument, _ in pickletools.genops(self._code):
            if instruction.name == "STOP":
                (value,) = self._stack
                return value
            self._do(instruction.name, argument)
        raise refused("it is cut off or damaged")

    def _do(self, name: str, argument: Any) -> None:
        stack = self._stack
        if name in _VALUES:
            stack.append(argument)
        elif name in _MADE:
            stack.append(_MADE[name]())
        elif name in _TUPLES:
            stack.append(tuple(self._taken(_TUPLES[name])))
        elif name in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self._memory[len(self._memory) if argument is None else argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(self._again(self._memory[argument]))
        elif name == "MARK":
            self._marks.append(len(stack))
        elif name == "TUPLE":
            stack.append(tuple(self._since_mark()))
        elif name in ("APPEND", "APPENDS"):
            self._append(self._taken(1) if name == "APPEND" else self._since_mark())
        elif name in ("SETITEM", "SETITEMS"):
            self._set(self._taken(2) if name == "SETITEM" else self._since_mark())
        elif name in ("GLOBAL", "STACK_GLOBAL"):
            stack.append(_name(argument if name == "GLOBAL" else " ".join(self._taken(2))))
        elif name == "BINPERSID":
            stack.append(self._storage(*self._taken(1)[0]))
        elif name == "REDUCE":
            stack.append(self._made(*self._taken(2)))
        elif name not in ("PROTO", "FRAME"):
            raise refused("it holds more than plain tensors, texts and numbers")

    def _again(self, value: Any) -> Any:
        """Return a value that was met before: a simple one, a short tuple of these, or a tensor, which counts anew.

        So what is made of a program is not out of proportion to it.
        """
        is_long = isinstance(value, tuple) and len(value) > MOST_DEPTH
        if is_long or isinstance(value, list | dict):
            raise refused("its parts hold each other")
        if isinstance(value, tuple) and any(isinstance(inner, tuple | list | dict | np.ndarray) for inner in value):
            raise refused("its parts hold each other")
        if isinstance(value, np.ndarray):
            self._count(value.nbytes)
        return value

    def _count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise refused("its tensors are larger than the limit")

    def _taken(self, count: int) -> list[Any]:
        if len(self._stack) < count:
            raise refused("it is cut off or damaged")
        taken = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return taken

    def _since_mark(self) -> list[Any]:
        return self._taken(len(self._stack) - self._marks.pop())

    def _append(self, values: list[Any]) -> None:
        if not isinstance(self._stack[-1], list):
            raise refused("it is damaged")
        self._stack[-1].extend(values)

    def _set(self, pairs: list[Any]) -> None:
        keys = pairs[::2]
        if not isinstance(self._stack[-1], dict) or len(pairs) % 2:
            raise refused("it is damaged")
        if not all(isinstance(key, str) and len(key) <= MOST_KEY_CHARS for key in keys):
            raise refused("it has keys that are no short texts")
        self._stack[-1].update(zip(keys, pairs[1::2], strict=True))

    def _made(self, name: Any, given: Any) -> Any:
        if name == _Name(ORDERED) and given == ():
            return {}
        if name == _Name(TENSOR) and isinstance(given, tuple) and len(given) == 6:
            return self._tensor(*given[:4])
        raise refused("it holds more than plain tensors, texts and numbers")

    def _storage(self, sign: Any, name: Any, key: Any, place: Any, count: Any) -> _Storage:
        is_known = sign == "storage" and isinstance(name, _Name) and name.text.startswith("torch ")
        if not is_known or not isinstance(key, str) or not _is_count(count):
            raise refused("it holds more than plain tensors, texts and numbers")
        if place != "cpu":
            raise refused("its tensors were not moved to the processor before they were saved")
        kind = name.text.removeprefix("torch ")
        kept = self._storages.get(key)
        if kept is None:
            data = self._read(f"data/{key}")
            if len(data) != count * STORAGES[kind].itemsize:
                raise refused("a tensor declares another size than its bytes have")
            kept = self._storages[key] = _Storage(kind, np.frombuffer(data, STORAGES[kind]))
        if kept.kind != kind or len(kept.values) != count:
            raise refused("it is damaged")
        return kept

    def _tensor(self, storage: Any, offset: Any, shape: Any, strides: Any) -> npt.NDArray[Any]:
        if not isinstance(storage, _Storage) or not isinstance(shape, tuple) or not isinstance(strides, tuple):
            raise refused("it is damaged")
        numbers = (offset, *shape, *strides)
        if len(shape) != len(strides) or len(shape) > MOST_DEPTH or not all(map(_is_count, numbers)):
            raise refused("a tensor has no true shape")
        values = storage.values
        # Within the storage, and no value twice: then it is no larger than its bytes.
        count = int(np.prod([int(size) for size in shape], dtype=object)) if shape else 1
        reached = 1
        for step, size in sorted(zip(strides, shape, strict=True)):
            if size > 1 and count:
                if step < reached:
                    raise refused("a tensor shows its values more than once")
                reached += step * (size - 1)
        if count and offset + reached > len(values):
            raise refused("a tensor reaches beyond its bytes")
        self._count(count * max(values.itemsize, 4 if storage.kind == "BFloat16Storage" else 1))
        found = np.lib.stride_tricks.as_strided(
            values[offset : offset + reached] if count else values[:0],
            shape,
            tuple(step * values.itemsize for step in strides),
            writeable=False,
        )
        if storage.kind == "BFloat16Storage":
            return (found.astype(np.uint32) << 16).view(np.float32)
        return found.astype(np.bool_) if storage.kind == "BoolStorage" else found

    def _read(self, name: str) -> bytes:
        return self._archive.read(self._members[f"{self._folder}{name}"])


_VALUES = {"BINUNICODE", "SHORT_BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"}
_MADE: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def _members(archive: zipfile.ZipFile, limit_bytes: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, of which none is compressed and all together are within the limit."""
    found = archive.infolist()
    members = {each.filename: each for each in found}
    if len(members) != len(found):
        raise refused("it has a part twice")
    if any(each.compress_type != zipfile.ZIP_STORED or each.file_size != each.compress_size for each in found):
        raise refused("its parts are compressed")
    if sum(each.file_size for each in found) > limit_bytes:
        raise refused("its parts are larger than the limit")
    return members


def _program(members: dict[str, zipfile.ZipInfo]) -> tuple[str, zipfile.ZipInfo]:
    found = [name for name in members if name.count("/") == 1 and name.endswith("/data.pkl")]
    if len(found) != 1:
        raise refused("it is no archive as torch.save writes it")
    if members[found[0]].file_size > MOST_PROGRAM_BYTES:
        raise refused("its table of contents is larger than any recording's")
    return found[0].removesuffix("data.pkl"), members[found[0]]


def _name(text: Any) -> _Name:
    if text not in NAMES:
        raise refused("it holds more than plain tensors, texts and numbers")
    return _Name(text)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def _plain(value: Any, depth: int = 0) -> Any:
    """Return the value, of which every part is plain."""
    if depth > MOST_DEPTH:
        raise refused("it is nested deeper than a recording")
    if isinstance(value, dict):
        for inner in value.values():
            _plain(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _plain(inner, depth + 1)
    elif not (value is None or isinstance(value, str | int | float | np.ndarray)):
        raise refused("it holds more than plain tensors, texts and numbers")
    return value
