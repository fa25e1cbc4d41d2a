"""The child process that parses: it reads one order a line and answers each with one line, without a network.

It is started by ``core.ingest.sandbox`` and never imports more than the parser of the document before it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

from core.errors import EmptyDocument, EvoRAGError, ParserFailed, ParserLimit
from core.ingest.blockfile import write_blocks
from core.ingest.parsers import parse
from core.ingest.parsers.reading import ParserLimits, Reading

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_CONVERTER_MEMORY = 4 * 1024**3


def isolate() -> None:
    """Leave the network for good: an empty network name space where the kernel allows it, and a refusal in Python."""
    user, group = os.getuid(), os.getgid()
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_NEW_NETWORK) != 0 and libc.unshare(_NEW_USER | _NEW_NETWORK) == 0:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    sys.addaudithook(_refuse_network)


def _refuse_network(event: str, _: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto", "urllib.Request"):
        raise ParserFailed("The document tried to reach the network.")


def limit(limits: ParserLimits) -> None:
    """Bound what this process may use from here on; the processor time is counted from now."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + limits.timeout_s) + 2
    hard_memory = resource.getrlimit(resource.RLIMIT_AS)[1]
    allowed = max(limits.memory_bytes, _CONVERTER_MEMORY)
    hard = allowed if hard_memory == resource.RLIM_INFINITY else hard_memory
    resource.setrlimit(resource.RLIMIT_AS, (min(limits.memory_bytes, hard), hard))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.output_bytes + 1024, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Parse one document and say how it went; the target is complete or absent."""
    limits = ParserLimits(**order["limits"])
    target = Path(order["target"])
    part = target.with_name(target.name + ".part")
    reading = Reading(Path(order["source"]), order["extension"], limits)
    try:
        limit(limits)
        with part.open("wb", buffering=256 * 1024) as file:
            count, characters = write_blocks(parse(reading), file, limits.output_bytes)
        if not characters:
            raise EmptyDocument("No text was found in the document.")
        part.replace(target)
        reading.note(blocks=count, characters=characters)
        return {"metadata": reading.metadata}
    except EvoRAGError as error:
        return {"error": error.as_dict(), "spent": isinstance(error, ParserLimit)}
    except MemoryError:
        return {"error": ParserLimit("The document needs more memory than parsing may use.").as_dict(), "spent": True}
    except RecursionError:
        return {"error": ParserFailed("The document is nested too deeply.").as_dict()}
    except OSError as error:
        kind = ParserLimit if error.errno == 27 else ParserFailed
        return {"error": kind("The document could not be read through.").as_dict()}
    except Exception as error:
        # Parsers meet damaged files with whatever their libraries raise; the type alone holds no user text.
        return {"error": ParserFailed(f"The document is damaged ({type(error).__name__}).").as_dict()}
    finally:
        part.unlink(missing_ok=True)


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Answer orders until the parent closes the line or dies."""
    replies: BinaryIO = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    isolate()
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    for line in sys.stdin.buffer:
        replies.write(json.dumps(answer(json.loads(line))).encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    main()
