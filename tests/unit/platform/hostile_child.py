"""A child process that does what a hostile document would have its reader do; each order names one attempt."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.platform.sandboxed_child import Telling, serve

PTRACE_ATTACH = 16


def attempts(root: Path) -> dict[str, Callable[[], object]]:
    catalog, original, scratch = root / "catalog.db", root / "blobs" / "original", root / "incoming" / "made"
    return {
        "read the catalogue": catalog.read_text,
        "read it by another way": Path(f"/proc/self/root{catalog}").read_text,
        "list the folder": lambda: os.listdir(root),
        "write beside the catalogue": lambda: (root / "new").write_text("x"),
        "write into the catalogue": lambda: catalog.write_text("x"),
        "remove the catalogue": catalog.unlink,
        "move the catalogue": lambda: os.replace(catalog, scratch),
        "change an original": lambda: original.write_text("x"),
        "cut an original": lambda: os.truncate(original, 0),
        "remove an original": original.unlink,
        "link to an original": lambda: os.link(original, scratch),
        "have a program read it": lambda: subprocess.run(["cat", str(catalog)], check=True, capture_output=True),
        "open a socket": lambda: socket.socket(socket.AF_INET),
        "open a socket of version 6": lambda: socket.socket(socket.AF_INET6),
        "look into its parent": lambda: _called("ptrace", PTRACE_ATTACH, os.getppid(), 0, 0),
        "read its parent's memory": lambda: Path(f"/proc/{os.getppid()}/mem").open("rb"),
        "leave its name spaces": lambda: _called("unshare", 0x10000000),
        "mount": lambda: _called("mount", b"none", b"/mnt", b"tmpfs", 0, None),
        "read an original": original.read_text,
        "write into its scratch folder": lambda: scratch.write_text("x"),
        "have a program work": lambda: subprocess.run(["ls", "/usr"], check=True, capture_output=True),
    }


def _called(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)


def answer(order: dict[str, Any], _: Telling) -> dict[str, Any]:
    try:
        attempts(Path(order["root"]))[order["attempt"]]()
    except Exception as error:
        return {"refused": type(error).__name__}
    return {"refused": ""}


if __name__ == "__main__":
    serve(answer)
