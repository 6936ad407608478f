"""Names that a careless backend takes for one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def texts(line: str) -> list[str]:
    """The texts between the spaces of a line."""
    return line.split()


UUID = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


NAMES: Mapping[str, Sequence[str]] = {
    "case": ["a", "A", "ß", "ss", "SS", "ẞ", "ı", "i", "I", "İ", "\u212a", "k", "K", "ſ", "s"],
    "spaces": ["a", " a", "a ", "a\t", "a\n", "a\r\n", "\na", "a\u00a0", "a\u3000", "\ufeffa", "a b", "a  b", "ab"],
    "invisible": ["a", "a\u200b", "a\u200d", "a\u00ad", "\u202ea", "a\u2060", "a\ufe0f", "a\u034f"],
    "accents": ["\u00e9", "e\u0301", "e", "\u00c9", "\u00e8", "\u00e4", "a", "o", "\u00f8", "n", "\u00f1"],
    "normal forms": ["\ufb01", "fi", "\u00c5", "\u212b", "A\u030a", "\u03a9", "\u2126", "\uff11", "1", "\u00b2", "2"],
    "beyond 16 bit": ["🧵", "🧶", "𝒜", "A", "👩‍💻", "👩", "👩💻", "\U00020000", "\U00020001", "\ufffd", "?", "??"],
    "like": ["a%", "a_", "a", "ab", "abc", "%", "_", "__", "%a", "a%b"],
    "glob": ["a*", "a?", "a[b]", "a[!b]", "ab", "a", "ac", "*", "?", "[ab]", "a{b,c}", "**", "a/*"],
    "regex": ["a.", "a+", "^a$", "a", "ab", "aa", "a|b", "b", "(a)", ".*", ".", "[a-z]", "a{2}", "a$"],
    "search": ["@a", "{a}", "a", "-a", "~a", "a:b", "a-b", "a b", "a,b", "a.b", "a|b", "$a", "<a>", "a;b", "a~1", "=a"],
    "quotes": ["a", "a'", "a''", 'a"', 'a""', "'a'", '"a"', "a`", "`a`", "a';--", "a' OR '1'='1", "a\u2019", "a\u00b4"],
    "encoded": ["a/b", "a%2Fb", "a%2fb", "a%252Fb", "a+b", "a%20b", "a b", "a&b", "a&amp;b", "aA", "a%41", "YQ=="],
    "paths": ["a", "a/", "/a", "./a", "a/.", "a/../a", "a//", ".", "..", "/", "../a", "a/b", "~", "a#b", "a?b"],
    "numbers": ["1", "01", "1.0", "1.", "+1", "1e0", "10", "9", "0x1", "1_0", "\u0661", "-1", "0", "-0", "00", "1L"],
    "words": ["true", "True", "null", "None", "nil", "NaN", "undefined", "inf", "false", "nan", "NULL", "none"],
    "reserved": texts("__proto__ constructor _id $set $where __class__ toString $ __v length id key"),
    "marks": ["latest", "default", "root", "__root__", "all", "*", "meta", "index", "blobs", "writes", "checkpoint"],
    "prefixes": ["a", "ab", "a:", "a:1", "a:10", "a|b", "a1", "a10", "a01", "1a", "ba", "aa"],
    "uuids": [UUID, UUID.upper(), UUID.replace("-", ""), f"{{{UUID}}}", f"urn:uuid:{UUID}", f"{UUID[:-1]}9", UUID[:-1]],
    "long": [f"{'x' * length}{end}" for length in (31, 36, 63, 88) for end in ("", "1", "2")],
}
"""By kind: texts that one kind of mistake takes for one another."""
BACKSLASHES = [*texts(r"a\b a\\b ab a\ a\\ a \a a\nb \132 Z a\u005a aZ a\:b a\'b"), "a\nb"]
HARSH: Mapping[str, Sequence[str]] = {
    "nul": ["a", "a\0", "a\0b", "ab", "\0a", "a\0c", "a\ufffd"],
    "control": ["a", "a\x01", "a\x1f", "\x7fa", "a\x1b[0m", "a\x08", "a\u2028", "a\u0085", "a\ufffe", "a\uffff"],
    "very long": [f"{'x' * length}{end}" for length in (127, 255, 511, 1023, 2047, 6000) for end in ("1", "2")],
}
SURROGATES = ["a\ud800", "a\udc00", "a", "a?", "a\ufffd", "a\udfff"]
EMPTY = ["", " ", "''", '""', "__empty__", "__default__", "None", "null", "_", "-", ".", "0", "\u200b", "root"]
