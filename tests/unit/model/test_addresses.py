"""Which addresses are inside the network."""

from __future__ import annotations

import pytest

from core.model import is_inside

INSIDE = [
    *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1"),
    *("::1", "[::1]", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "224.0.0.1", "255.255.255.255"),
    *("::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:db8::1"),
    *("localhost", "LOCALHOST.", "x.localhost", "printer.local", "metadata.google.internal", "nas.home.arpa"),
]
OUTSIDE = ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "api.example.com", "local.example"]


@pytest.mark.parametrize("host", INSIDE)
def test_an_address_that_not_everybody_reaches_is_inside_however_it_is_written(host: str) -> None:
    assert is_inside(host)


@pytest.mark.parametrize("host", OUTSIDE)
def test_an_address_of_the_internet_is_not_and_a_name_tells_nothing_yet(host: str) -> None:
    assert not is_inside(host)
