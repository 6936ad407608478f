"""Names that a careless backend takes for one another."""

from __future__ import annotations

from collections.abc import Mapping

LOOKALIKES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "prefix": ("user-1", ("user-10", "user-1:x", "user-1/x", "user-1|x", "user-1 x", "user-", "xuser-1")),
    "control": ("a\x1fb", ("a", "ab", "b", "a\x1f", "a\x1eb")),
    "percent": ("a%", ("a", "ab", "abc", "a%%", "%", "a\\%")),
    "percent-in-front": ("%a", ("a", "ba", "%", "%aa")),
    "underscore": ("a_c", ("abc", "a-c", "a_", "a__c", "a\\_c")),
    "star": ("a*", ("a", "ab", "aa", "a**", "*")),
    "question-mark": ("a?", ("a", "ab", "?", "a??")),
    "brackets": ("a[bc]", ("ab", "ac", "a[b]", "a")),
    "braces": ("{a|b}", ("a", "b", "a|b", "{a}")),
    "dot": ("a.c", ("abc", "a", "a..c", "ac")),
    "regular-expression": ("^a+$", ("a", "aa", "a+", "^a$")),
    "query": ("@a:{b} | *", ("@a", "b", "a", "-a", "(a)")),
    "quote": ("a'b", ("a", "a''b", "a\\'b", "ab", "a`b")),
    "double-quote": ('a"b', ("a", 'a""b', 'a\\"b', "ab")),
    "statement": ("a' OR '1'='1", ("a", "1", "a' OR '1'='2")),
    "comment": ("a'; --", ("a", "a'", "a';")),
    "backslash": ("a\\b", ("a\\\\b", "ab", "a", "a/b", "a\x08")),
    "escape": ("a\\n", ("a\n", "an", "a\\\\n")),
    "case": ("User", ("user", "USER", "uSER")),
    "case-folding": ("stra\u00dfe", ("strasse", "STRASSE", "stra\u1e9ee")),
    "dotless-i": ("\u0131", ("i", "I", "\u0130")),
    "accents": ("caf\u00e9", ("cafe\u0301", "cafe", "CAF\u00c9")),
    "compatibility": ("\uff41\u2460", ("a1", "a\u2460", "\uff411")),
    "invisible": ("a\u200b", ("a", "a\u200c", "a\ufeff", "a\u00ad")),
    "emoji": ("\U0001f600", ("\U0001f601", "?", "\ufffd", "\U0001f600\ufe0f")),
    "space-after": ("a ", ("a", " a", "a  ", "a\u00a0")),
    "space-before": (" a", ("a", "a ", "  a")),
    "line-end": ("a\n", ("a", "a\r\n", "\na", "a\r")),
    "tab": ("a\tb", ("a b", "ab", "a", "a\\tb")),
    "number": ("1", ("01", "1.0", "+1", "1e0", "10", "\u0661")),
    "boolean": ("true", ("True", "1", "yes")),
    "nothing": ("None", ("null", "none", "", "nil")),
    "long": ("n" * 120 + "1", ("n" * 120 + "2", "n" * 120, "n" * 64)),
    "separator": ("a:b", ("a", "a::b", "a|b", "a/b", "a,b", "a.b", "b:a")),
    "path": ("a/../b", ("b", "a/b", "a", "a/..")),
    "url-encoding": ("a%20b", ("a b", "a+b", "a%2520b")),
}
"""By kind: a name, and others that a pattern, a prefix search, folding, trimming or cutting takes for it.

They stand behind a part that nobody else uses, so that a backend that errs harms no other data.
"""
