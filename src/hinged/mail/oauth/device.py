"""Signing in with a browser on another device: a short code to type there (RFC 8628)."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from hinged.mail.oauth.clients import Client, is_private
from hinged.mail.oauth.endpoint import RefusedError, Tokens, request, request_tokens, seconds_of
from hinged.mail.sources.source import SourceError, UnreachableError

__all__ = ["sign_in_elsewhere"]

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
INTERVAL, SHORTEST, LONGEST = 5.0, 1.0, 60.0  # seconds between two questions; at least, and at most
LIFE = 1800.0  # seconds that a code is used at most


def sign_in_elsewhere(
    client: Client, show: Callable[[str, str], object], pause: Callable[[float], None] = time.sleep
) -> Tokens:
    """Let the user allow access on any device, and return the tokens.

    Parameters
    ----------
    client : Client
    show : called with the address of a page and the code to type there
    pause : waits for so many seconds

    Raises
    ------
    SourceError
        If access was not allowed, the code has expired, or there is no such way to sign in.
    """
    if not client.device:
        raise SourceError(f"{client.server} has no way to sign in on another device; leave out --device.")
    answer = request(client.device, {**client.credentials, "scope": client.scope})
    page = answer.get("verification_uri")
    codes = [answer.get(key) for key in ("device_code", "user_code")]
    if not isinstance(page, str) or not is_private(page) or not all(isinstance(one, str) and one for one in codes):
        raise UnreachableError(f"{urlsplit(client.device).hostname} did not answer with a code that can be used.")
    device_code, user_code = map(str, codes)
    left = min(seconds_of(answer.get("expires_in"), LIFE), LIFE)
    interval = min(max(SHORTEST, seconds_of(answer.get("interval"), INTERVAL)), LONGEST)
    show(page, user_code)
    while left >= interval:
        pause(interval)
        left -= interval
        try:
            return request_tokens(client.token, {"grant_type": GRANT, "device_code": device_code, **client.credentials})
        except RefusedError as problem:
            if problem.code == "slow_down":
                interval = min(interval + 5.0, LONGEST)
            elif problem.code != "authorization_pending":
                raise
        except UnreachableError:  # RFC 8628, 3.5: ask less often
            interval = min(2 * interval, LONGEST)
    raise SourceError("nobody allowed access before the code expired; begin anew.")
