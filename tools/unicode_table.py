#!/usr/bin/env python3
"""Writes src/nn/unicode.def: letters, numbers and canonical composition, as the tokenizers package
knows them (its Unicode version is newer than that of Python's unicodedata).

    tools/unicode_table.py > src/nn/unicode.def
"""
from tokenizers import Regex, normalizers, pre_tokenizers

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
NFC, NFD = normalizers.NFC().normalize_str, normalizers.NFD().normalize_str


def members(pattern):
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    return [c for c in POINTS if not split.pre_tokenize_str(chr(c))]


def ranges(points):
    out = []
    for c in points:
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def combining_classes():
    """The class of a mark, by whether it changes places with marks of every class."""
    import unicodedata
    known, iota, tilde = {}, "\u0345", "\u0334"  # classes 240 and 1
    for c in POINTS:
        x = chr(c)
        if NFD("a" + iota + x) == "a" + x + iota != "a" + iota + x or NFD("a" + x + tilde) == "a" + tilde + x:
            known.setdefault(unicodedata.combining(x), x)
    classes = {}
    for c in POINTS:
        x = chr(c)
        if NFD(x) != x or 0xAC00 <= c < 0xD7A4:
            continue
        moved = [k for k, m in known.items() if NFD("a" + m + x) == "a" + x + m and m != x]  # class(x) < k
        behind = [k for k, m in known.items() if NFD("a" + x + m) == "a" + m + x and m != x]  # class(x) > k
        if moved or behind:
            rest = [k for k in known if k not in moved and k not in behind]
            assert len(rest) == 1, hex(c)
            classes[c] = rest[0]
    return classes


def main():
    print("/* Letters, numbers, combining classes, canonical decompositions and compositions of Unicode.\n"
          " * Written by tools/unicode_table.py; do not edit. */")
    width, line = 118, ""

    def put(text):
        nonlocal line
        if len(line) + len(text) + 1 > width:
            print(line.rstrip())
            line = ""
        line += text + " "

    for name, pattern in (("UNI_LETTER", r"\p{L}"), ("UNI_NUMBER", r"\p{N}")):
        for lo, hi in ranges(members(pattern)):
            put(f"{name}({lo:#x},{hi:#x})")
    classes = combining_classes()
    for lo, hi in ranges(sorted(classes)):
        start = lo
        for c in range(lo, hi + 1):
            if c == hi or classes[c + 1] != classes[start]:
                put(f"UNI_MARK({start:#x},{c:#x},{classes[start]})")
                start = c + 1
    pairs = []
    for c in POINTS:
        x = chr(c)
        full = NFD(x)
        if full == x or 0xAC00 <= c < 0xD7A4:
            continue
        parts = [ord(p) for p in full] + [0] * 4
        put("UNI_DECOMPOSE({:#x},{:#x},{:#x},{:#x},{:#x})".format(c, *parts[:4]))
        assert len(full) <= 4
        if NFC(x) == x:
            first = NFC(full[:-1])
            assert len(first) == 1 and NFC(first + full[-1]) == x
            pairs.append((ord(first), ord(full[-1]), c))
    for p in sorted(pairs):
        put("UNI_COMPOSE({:#x},{:#x},{:#x})".format(*p))
    print(line.rstrip())


main()
