"""Classes and free functions that a library header declares and that no program or library uses.

The check compares names. A definition is used if its name occurs outside its own declaration and
definition, in code that is neither a test, a benchmark nor a fuzzer. Two functions of one name are
one definition here, and another thing of that name hides an unused one. The check therefore does not
find everything that has no caller, but what it finds has none.
"""

from pathlib import Path
from typing import Iterator, NamedTuple

import cpp_reader
import source_tree

SIDE = ("_test", "_testing", "_fuzz", "_bench", "_cases")  # not part of a library or a program
SIDE_FOLDERS = {"tests", "bench"}
LIBRARY_FOLDERS = {"core", "schemas"}


class Unused(NamedTuple):
    name: str
    path: Path
    is_class: bool
    is_used_at_home: bool  # in its own header or source file; nowhere: nothing uses it


def is_shipped(path: Path) -> bool:
    """Code of a library or a program: no test, benchmark or fuzzer, nor what helps them."""
    return path.parts[0] not in SIDE_FOLDERS and not path.stem.endswith(SIDE)


def is_library_header(path: Path) -> bool:
    return path.suffix == ".h" and path.parts[0] in LIBRARY_FOLDERS and is_shipped(path) and \
        not source_tree.is_generated(path)


def find(sources: list) -> list:
    """What no file uses but its own, sorted by path and name."""
    shipped = [source for source in sources if is_shipped(source.path)]
    declared = {}
    for source in shipped:
        if is_library_header(source.path):
            for name, is_class in _declarations(source):
                declared.setdefault((name, is_class), set()).add(source.path)
    names = {name for name, _ in declared}
    used_in = {True: {}, False: {}}  # of classes, of functions: name to paths
    for source in shipped:
        words = names.intersection(source.tokens)
        unread = names & source.unread_words
        for is_class, places in used_in.items():
            for name in _used(source, words, is_class) | unread:
                places.setdefault(name, set()).add(source.path)
    found = []
    for (name, is_class), headers in declared.items():
        homes = {header.with_suffix("") for header in headers}
        users = {path.with_suffix("") for path in used_in[is_class].get(name, ())}
        if users <= homes:
            found.append(Unused(name, min(headers), is_class, bool(users)))
    return sorted(found, key=lambda one: (one.path, one.name))


def _declarations(source: cpp_reader.Source) -> Iterator[tuple]:
    for made in source.classes:
        if len(made.name) == 1 and "<" not in made.name[0]:  # no nested one, no specialisation
            yield made.name[0], True
    for function in source.functions:
        if not function.owner and not function.name.startswith("operator") and \
                not function.name.isupper():
            yield function.name, False


def _used(source: cpp_reader.Source, words: set, is_class: bool) -> set:
    """The words that are mentioned outside the declarations and definitions of their own names."""
    tokens = source.tokens
    own = _own_places(source, words, is_class)
    used = set()
    for at, token in enumerate(tokens):
        if token in words and token not in used:
            before = tokens[at - 1] if at else ""
            is_member = before in {".", "->"} and not is_class
            if not is_member and not any(begin <= at < end for begin, end in own[token]):
                used.add(token)
    return used


def _own_places(source: cpp_reader.Source, words: set, is_class: bool) -> dict:
    """For each word, the ranges of tokens where it is declared or defined."""
    own = {word: [] for word in words}
    methods = [method for made in source.classes for method in made.methods]
    for function in source.functions:
        if is_class:
            for word in words.intersection(function.owner):
                own[word].append((function.begin, function.end))
        elif function.name in words:
            begin, end = (function.name_at, function.name_at + 1) if function.owner else \
                (function.begin, function.end)
            own[function.name].append((begin, end))
    if not is_class:
        for method in methods:
            if method.name in words:
                own[method.name].append((method.name_at, method.name_at + 1))
        return own
    for made in source.classes:  # C, what is nested in it, and a specialisation hash<C>
        for word in words.intersection(cpp_reader.IDENTIFIER.findall(made.text)):
            own[word].append((made.begin, made.end))
    for at in source.announced:
        if source.tokens[at] in words:
            own[source.tokens[at]].append((at, at + 1))
    return own


def listing(found: list) -> Iterator[str]:
    """For a person. Classes used at home are left out: most are what a function takes or returns."""
    nowhere = [one for one in found if not one.is_used_at_home]
    at_home = [one for one in found if one.is_used_at_home and not one.is_class]
    yield f"Only tests, benchmarks or fuzzers use these {len(nowhere)} definitions:"
    for one in nowhere:
        yield f"  {one.path}: {'class' if one.is_class else 'function'} {one.name}"
    yield ""
    yield (f"Only their own file uses these {len(at_home)} functions; some need not be in a header, "
           "others are there for a test:")
    for one in at_home:
        yield f"  {one.path}: function {one.name}"


def complaints(found: list, known: dict) -> Iterator[str]:
    """`known` has the exceptions by name, each with its reason."""
    nowhere = {one.name: one for one in found if not one.is_used_at_home}
    for name, one in nowhere.items():
        if name not in known:
            kind = "class" if one.is_class else "function"
            yield (f"{one.path}:1: only tests, benchmarks or fuzzers use the {kind} {name}; remove it, "
                   "or move it to a _testing.h")
    for name in known:
        if name not in nowhere:
            yield f"{source_tree.EXCEPTIONS}:1: {name} is used or gone; remove its entry"
