"""How large the classes are. A class that does one thing stays below the bounds of this file.

What counts:
- A method is a function that the class declares. Each overload counts, as do constructors, operators,
  signals and friend functions. One that is "= default" or "= delete" does not count.
- A public method is one that a caller outside the class may use. The methods of a nested class that
  is not public are not public methods of the outer class.
- A data member is a variable of the class, also a static one. A constant (static constexpr, static
  const) does not count.
- A source file of a class is a .cc file with a definition of a method outside the class
  (JobRun::restore(...) {), or with the body of the class itself.

What belongs to a class:
- A class that it befriends, and what belongs to that one by nesting.
- A nested class that is defined outside the class (class Agent::Impl { ... };).
- A nested class that is defined inside the class, unless it is a record.

A record is a struct in which everything is public and no method changes it: each method is const,
static or a constructor. A record's data members have no bound, because a record is a row of values
(options, an event, a row of the journal); its methods have the bounds of any class.

Code that a generator wrote, and classes inside functions, are not counted.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

import cpp_reader
import source_tree


class Figures(NamedTuple):
    methods: int
    public_methods: int
    data_members: int
    source_files: int


BOUNDS = Figures(methods=40, public_methods=25, data_members=15, source_files=2)


class Sized(NamedTuple):
    """A class with all that belongs to it."""
    name: str
    path: Path
    line: int
    is_record: bool
    figures: Figures

    def beyond(self) -> dict:
        """The figures beyond their bounds, by name."""
        return {name: figure for name, figure in self.figures._asdict().items()
                if figure > getattr(BOUNDS, name)
                and not (name == "data_members" and self.is_record)}


def is_record(made: cpp_reader.Class) -> bool:
    return (made.key == "struct" and not made.has_hidden_part and not made.friends
            and all(method.is_const or method.is_static or method.is_friend
                    or not method.is_written or method.name == made.name[-1].split("<")[0]
                    for method in made.methods))


class Classes:
    """All classes of some sources."""

    def __init__(self, sources: list):
        self.all = [made for source in sources for made in source.classes]
        self._by_name = {}
        for made in self.all:
            self._by_name.setdefault(_plain(made.name), []).append(made)
        self._parts = {id(made): [] for made in self.all}  # nested classes that are not records
        self._is_part = set()
        for made in self.all:
            outer = self._outer(made)
            if outer and (made.outside or not is_record(made)):
                self._parts[id(outer)].append(made)
                self._is_part.add(id(made))
        self._files = {id(made): _files_with_body(made) for made in self.all}
        for source in sources:
            for function in source.functions:
                owner = self._owner(source.path, function)
                if owner and function.has_body and source.path.suffix != ".h":
                    self._files[id(owner)].add(source.path)

    def sizes(self, root: Path) -> list:
        """The largest first. A class that is part of another has no size of its own."""
        whole = [made for made in self.all if id(made) not in self._is_part]
        names = _names(whole)
        sized = [self._size(root, made, names[id(made)]) for made in whole]
        return sorted(sized, key=lambda one: (-one.figures.methods, -one.figures.data_members,
                                              one.name, one.path))

    def _size(self, root: Path, made: cpp_reader.Class, name: str) -> Sized:
        parts = self._with_parts(made, True)
        for friend in made.friends:
            befriended = self._find(made.path, made.namespace, made.name,
                                    tuple(friend.split("::")))
            if befriended:
                known = {id(part) for part, _ in parts}
                parts += [part for part in self._with_parts(befriended, True)
                          if id(part[0]) not in known]
        methods = [(method, open_ and method.access == "public")
                   for part, open_ in parts for method in part.methods if method.is_written]
        return Sized(
            name=name, path=made.path, line=_line_of(root, made), is_record=is_record(made),
            figures=Figures(
                methods=len(methods), public_methods=sum(open_ for _, open_ in methods),
                data_members=sum(len(part.data) for part, _ in parts),
                source_files=len(set().union(*(self._files[id(part)] for part, _ in parts)))))

    def _with_parts(self, made: cpp_reader.Class, open_: bool) -> list:
        """The class and what is nested in it, each with whether callers outside can reach it."""
        found = [(made, open_)]
        for part in self._parts[id(made)]:
            access = made.announced.get(part.name[-1]) if part.outside else part.access
            found += self._with_parts(part, open_ and access == "public")
        return found

    def _outer(self, made: cpp_reader.Class) -> Optional[cpp_reader.Class]:
        if len(made.name) < 2:
            return None
        return self._find(made.path, made.namespace, (), made.name[:-1])

    def _owner(self, path: Path, function: cpp_reader.Function) -> Optional[cpp_reader.Class]:
        return self._find(path, function.scope, (), function.owner) if function.owner else None

    def _find(self, path: Path, namespace: tuple, inside: tuple,
              name: tuple) -> Optional[cpp_reader.Class]:
        """The class that `name` means there: from the innermost scope out, its own file first."""
        name = _plain(name)
        for depth in range(len(inside), -1, -1):
            candidates = self._by_name.get(_plain(inside[:depth]) + name, [])
            reached = [made for made in candidates
                       if made.path == path or _reaches(namespace, made.namespace)]
            if reached:
                return min(reached, key=lambda made: (made.path != path, -len(made.namespace)))
        # The name may begin with a namespace: store::Blobs.
        candidates = self._by_name.get(name[1:], []) if len(name) > 1 else []
        return next((made for made in candidates if made.namespace[-1:] == name[:1]), None)


def _names(classes: list) -> dict:
    """A name for each class, by its id: the path is in it where two classes have one name.

    A class of a header keeps the plain name if the others of that name are local to a source file.
    """
    plain = {id(made): "::".join(part for part in made.namespace + made.name
                                 if part not in {"", "tributary"}) for made in classes}
    count = Counter(plain.values())
    shared = {id(made) for made in classes
              if made.path.suffix == ".h" and "" not in made.namespace}
    shared_count = Counter(plain[one] for one in shared)
    return {one: name if count[name] == 1 or (one in shared and shared_count[name] == 1)
            else f"{name} ({made.path})"
            for made in classes for one, name in [(id(made), plain[id(made)])]}


def _plain(name: tuple) -> tuple:
    return tuple(part.split("<")[0] for part in name)


def _reaches(here: tuple, there: tuple) -> bool:
    """Whether a name of the namespace `there` is found without qualification from `here`."""
    return "" not in there and here[:len(there)] == there


def _files_with_body(made: cpp_reader.Class) -> set:
    inline = made.path.suffix != ".h" and any(method.has_body for method in made.methods)
    return {made.path} if inline else set()


def _line_of(root: Path, made: cpp_reader.Class) -> int:
    text = (root / made.path).read_text(encoding="utf-8", errors="replace")
    name = re.escape(made.name[-1].split("<")[0])
    match = re.search(rf"^[^\n/]*\b{made.key}\b[^;{{()/]*\b{name}\b[^;()]*?\{{", text, re.MULTILINE)
    return text.count("\n", 0, match.start()) + 1 if match else 1


def sources_of(root: Path) -> list:
    return cpp_reader.read(root, (path for path in source_tree.code_files(root)
                                  if not source_tree.is_generated(path)))


def complaints(sizes: list, ceilings: dict) -> Iterator[str]:
    """`ceilings` lists the classes that are beyond a bound, with the figures they may reach."""
    met = {name: set(figures) for name, figures in ceilings.items()}
    for sized in sizes:
        beyond = sized.beyond()
        ceiling = ceilings.get(sized.name, {})
        met.get(sized.name, set()).difference_update(beyond)
        new = [f"{figure} {_words(name)} ({getattr(BOUNDS, name)} at most)"
               for name, figure in beyond.items() if name not in ceiling]
        grown = [f"{figure} {_words(name)} (it had {ceiling[name]}, and may only shrink)"
                 for name, figure in beyond.items() if figure > ceiling.get(name, figure)]
        if new or grown:
            yield (f"{sized.path}:{sized.line}: {sized.name} has {', '.join(new + grown)}; "
                   "split the class by what it does")
    for name, figures in met.items():
        for figure in sorted(figures):
            yield (f"{source_tree.EXCEPTIONS}:1: {name} keeps the bound of {_words(figure)} "
                   f"now; remove its entry for {figure}")


def duplicates(sized: list) -> Iterator[str]:
    """Two classes of one name in one namespace: a program that links both has undefined behaviour.

    A class of a source file may have the name of another one if its namespace has no name.
    """
    shared = {}
    for one in sized:
        name, _, path = one.name.partition(" (")
        if path and one.path.suffix == ".h" and not one.path.stem.endswith("_testing"):
            shared.setdefault(name, []).append(one)
    for name, classes in sorted(shared.items()):
        for one in classes[1:]:
            yield (f"{one.path}:{one.line}: {classes[0].path} has a class {name} as well; "
                   "rename one of them")


def _words(figure: str) -> str:
    return figure.replace("_", " ")
