#!/usr/bin/env python3
"""Moves the object API's functions out of a header that flatc wrote, into a source file.

usage: split_header.py HEADER SOURCE --include NAME

flatc defines every function in the header, so each file that packs or unpacks one message compiles the
functions of all of them. SOURCE includes HEADER by NAME and defines the functions that HEADER declares
already: comparing, copying, packing, unpacking and verifying. Objects that own others also get their
constructors and their destructor there.
"""

import argparse
import re
import sys
from pathlib import Path

# Matches the definitions that the header has declared before.
MOVED = re.compile(
    r"^inline (?P<signature>(?:"
    r"bool operator[!=]=\(const (?P<compared>\w+)T |"
    r"(?P<object>\w+T) ?&?(?P=object)::|"
    r"[^(\n]*?\b\w+::(?:UnPack|UnPackTo|Pack|Reset|MessageUnion)\(|"
    r"MessageUnion::MessageUnion\(|"
    r"\w+T::\w+T\(|\w+T &\w+T::operator=\(|"
    r"flatbuffers::Offset<\w+> Create\w+\(flatbuffers::FlatBufferBuilder &_fbb, const \w+T \*_o,|"
    r"bool Verify\w+\(flatbuffers::Verifier &verifier, const (?:void|flatbuffers::Vector)"
    r").*?^}\n)", re.MULTILINE | re.DOTALL)
DEFAULTED = re.compile(r"^  (?P<name>\w+)\(\) = default;\n"
                       r"(?P<copy>  (?P=name)\(const (?P=name) &o\);\n)"
                       r"  (?P=name)\((?P=name)&&\) FLATBUFFERS_NOEXCEPT = default;\n", re.MULTILINE)
UNION = re.compile(r"^inline (bool operator==\(const MessageUnion &lhs, const MessageUnion &rhs\)) \{.*?^}\n",
                   re.MULTILINE | re.DOTALL)
NAMESPACE = re.compile(r"^namespace (\w+) \{", re.MULTILINE)


def split(header: str, include: str) -> tuple:
    """The texts of the header and of the source."""
    definitions = []

    def owner(match):
        name = match["name"]
        definitions.append(f"{name}::{name}() = default;\n"
                           f"{name}::{name}({name}&&) noexcept = default;\n"
                           f"{name}::~{name}() = default;\n")
        return f"  {name}();\n{match['copy']}  {name}({name}&&) noexcept;\n  ~{name}();\n"

    def move(match):
        definitions.append(match["signature"])
        return ""

    def declare(match):
        definitions.append(match[0].removeprefix("inline "))
        return f"{match[1]};\n"

    names = NAMESPACE.findall(header)
    header = MOVED.sub(move, UNION.sub(declare, DEFAULTED.sub(owner, header)))
    inside = "::".join(dict.fromkeys(names))
    source = "\n".join([f'#include "{include}"\n', f"namespace {inside} {{\n", *definitions,
                        f"}}  // namespace {inside}\n"])
    return header, source


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("header", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--include", required=True)
    arguments = parser.parse_args()
    header, source = split(arguments.header.read_text(encoding="utf-8"), arguments.include)
    arguments.header.write_text(header, encoding="utf-8")
    arguments.source.write_text(source, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
