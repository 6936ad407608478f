"""Nothing secret reaches the output: connection strings and what looks like a password are masked."""

from __future__ import annotations

import re
from collections.abc import Collection

MASK = "***"
HARMLESS = {"", ":memory:"}
SHORTEST_SECRET = 5
"""Characters: a shorter text stands in too many words to be masked wherever it occurs."""

_USER_INFO = re.compile(r"(?P<scheme>[a-zA-Z][\w+.\-]*://)[^\s/@'\"]+@")
_NAMED_SECRET = re.compile(
    r"(?i)(?P<name>\b\w*(?:password|passwd|pwd|secret|token|api_?key|access_?key|credential)\w*\b['\"]?\s*[=:]\s*)"
    r"(?:'[^']*'|\"[^\"]*\"|[^\s,;)}\]'\"]+)"
)


class Redactor:
    """Masks the texts given to it and what looks like a secret anywhere.

    Args:
        secrets: texts that must not be shown, such as the string arguments of the target.
    """

    def __init__(self, secrets: Collection[str] = ()) -> None:
        self._secrets = sorted(
            (text for text in secrets if text not in HARMLESS and len(text) >= SHORTEST_SECRET), key=len, reverse=True
        )

    def __call__(self, text: str) -> str:
        """``text`` without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        text = _USER_INFO.sub(rf"\g<scheme>{MASK}@", text)
        return _NAMED_SECRET.sub(rf"\g<name>{MASK}", text)
