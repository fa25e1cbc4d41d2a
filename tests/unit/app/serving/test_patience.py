"""Who keeps a server waiting is let go."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from app.serving.patience import Limits, Patience
from tests.unit.app.serving.looped import looped

LIMITS = Limits(head_s=0.3, idle_s=0.3, rate=100_000, connections=3)


class Sending(asyncio.Protocol):
    """Sends a lot to whoever says something."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.transport.write(b"a" * 20_000_000)
        if data == b"close":
            self.transport.close()


@asynccontextmanager
async def serving(limits: Limits = LIMITS) -> AsyncIterator[int]:
    """Give the port of a server that has patience."""
    inner = Patience(limits).around(Sending)
    server = await asyncio.get_running_loop().create_server(inner, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


def test_where_there_are_too_many_who_has_waited_longest_goes() -> None:
    async def crowd() -> list[bool]:
        async with serving(Limits(head_s=60, idle_s=60, rate=1, connections=3)) as port:
            clients = [await connected(port) for _ in range(4)]
            with_end = await asyncio.wait_for(asyncio.gather(clients[0][0].read(), return_exceptions=True), 20)
            open_ones = [not reader.at_eof() and reader.exception() is None for reader, _ in clients[1:]]
            for _, writer in clients:
                writer.close()
            return [*(isinstance(end, (bytes, ConnectionError)) for end in with_end), *open_ones]

    assert looped(crowd()) == [True] * 4


def test_what_nobody_takes_is_given_up() -> None:
    async def slow() -> float:
        async with serving() as port:
            with socket.socket() as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect(("127.0.0.1", port))
                client.sendall(b"x")
                client.setblocking(False)
                loop, began, taken = asyncio.get_running_loop(), time.monotonic(), 0
                # A little is taken all the time, and never enough.
                with suppress(ConnectionError):
                    while time.monotonic() - began < 60 and (data := await loop.sock_recv(client, 1_000)):
                        taken += len(data)
                        await asyncio.sleep(0.1)
                assert taken < 20_000_000
                return time.monotonic() - began

    assert looped(slow()) < 40


def test_who_takes_an_answer_gets_all_of_it_though_it_is_long() -> None:
    async def taking() -> int:
        async with serving() as port:
            reader, writer = await connected(port)
            writer.write(b"close")
            taken = 0
            while data := await asyncio.wait_for(reader.read(1_000_000), 30):
                taken += len(data)
            writer.close()
            return taken

    assert looped(taking()) == 20_000_000


def test_who_still_sends_sees_the_answer_before_the_connection_ends() -> None:
    async def sending() -> int:
        async with serving() as port:
            reader, writer = await connected(port)
            writer.write(b"close")
            await asyncio.sleep(0.1)
            writer.write(b"more" * 1_000)
            taken = len(await asyncio.wait_for(reader.read(), 30))
            writer.close()
            return taken

    assert looped(sending()) == 20_000_000
