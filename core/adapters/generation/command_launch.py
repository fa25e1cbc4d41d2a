"""Run as a program: becomes the program that its arguments name, after which nothing of it outlives the server.

The first argument is the number of a pipe that the server holds open, the second a variable that is not to be passed
on. A process of the same group waits at its other end: it ends the whole group when the server is gone, whatever ended
that. A signal of the kernel at the death of the parent would come with the thread that began the program, not with the
server.
"""

import os
import signal
import sys


def watch(line: int) -> None:
    """Wait until nobody holds the other end of ``line``, and end the group."""
    for stream in (0, 1, 2):
        os.close(stream)
    while os.read(line, 1):
        pass
    os.killpg(0, signal.SIGKILL)


def become(arguments: list[str]) -> None:
    """Go on as another program, which expects no signal to be ignored: Python does two, nohup and shells three."""
    for name in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(name, signal.SIG_DFL)
    try:
        os.execv(arguments[0], arguments)
    except (OSError, ValueError) as error:
        os.write(2, type(error).__name__.encode())
        os._exit(126)


if __name__ == "__main__":
    line, unwanted = int(sys.argv[1]), sys.argv[2]
    if os.fork() == 0:
        watch(line)
    os.close(line)
    if unwanted:
        os.unsetenv(unwanted)
    become(sys.argv[3:])
