"""What others have changed is looked up again and again, whatever fails meanwhile."""

from __future__ import annotations

import threading

from core.platform.poller import Poller


def test_every_act_is_called_again_though_one_fails() -> None:
    called: list[str] = []
    enough = threading.Event()

    def fail() -> None:
        called.append("fail")
        raise OSError("a server is down")

    def follow() -> None:
        called.append("follow")
        if called.count("follow") == 3:
            enough.set()

    following = Poller([fail, follow], every_s=0.001)
    following.start()
    assert enough.wait(30)
    following.close()
    assert called[:6] == ["fail", "follow"] * 3


def test_looking_calls_all_at_once() -> None:
    called: list[int] = []
    Poller([lambda: called.append(1), lambda: called.append(2)]).look()
    assert called == [1, 2]
