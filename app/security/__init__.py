"""What every request must pass and every answer must carry.

``guard`` decides who asks and what that allows; ``peers`` says from where and by which name, ``origin`` whether our own
pages ask, ``callers`` on whose behalf, ``rates`` how often; ``answers`` writes the headers; ``acting`` keeps the
principal while an answer is sent; ``sockets`` refuses a WebSocket in its own words.
"""

from app.security.guard import BODY_LIMIT_BYTES, protect
from app.security.proxies import host_name, is_loopback

__all__ = ["BODY_LIMIT_BYTES", "host_name", "is_loopback", "protect"]
