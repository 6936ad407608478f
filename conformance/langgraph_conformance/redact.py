"""Nothing secret reaches the output: connection strings and what looks like a password are masked."""

from __future__ import annotations

import re
from collections.abc import Collection

MASK = "***"
HARMLESS = {"", ":memory:"}
SHORTEST_SECRET = 5
"""Characters: a shorter text stands in too many words to be masked wherever it occurs."""

LONGEST_TEXT = 20_000
"""Characters: more is never shown, and is cut before it is searched."""

# the repetitions are bounded, so that a long word costs no more than its length
_USER_INFO = re.compile(r"(?P<scheme>\b[a-zA-Z][\w+.\-]{0,30}://)[^\s/@'\"]{1,500}@")
_NAMED_SECRET = re.compile(
    r"(?i)(?P<name>\b\w{0,40}(?:password|passwd|pwd|secret|token|api_?key|access_?key|credential)\w{0,40}\b['\"]?\s*[=:]\s*)"
    r"(?:'[^']{0,500}'|\"[^\"]{0,500}\"|[^\s,;)}\]'\"]{1,500})"
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
        """``text`` without secrets, and no longer than LONGEST_TEXT."""
        if len(text) > LONGEST_TEXT:
            text = f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        text = _USER_INFO.sub(rf"\g<scheme>{MASK}@", text)
        return _NAMED_SECRET.sub(rf"\g<name>{MASK}", text)
