"""Reads the declarations of a C++ file: its classes with their members, and its functions.

It is a tokenizer and a reader of declarations, not a compiler. It knows the C++ of this tree. It reads
only the first branch of a conditional (#if, #else). It does not look for classes inside functions.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator, NamedTuple, Optional

TOKEN = re.compile(
    r"//(?:[^\n\\]|\\.)*"                          # a comment
    r"|/\*.*?\*/"
    r"|^[ \t]*\#(?:[^\n\\]|\\.)*"                  # a line of the preprocessor
    r'|(?:u8|[uUL])?R"([^(\s]*)\(.*?\)\1"'         # a raw string
    r'|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"'
    r"|\d(?:'\w|[eEpP][+-]|[\w.])*"                # a number, with its separators
    r"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'"
    r"|\w+|::|->|<=>|<=|<<|\+\+|&&|\S",
    re.MULTILINE | re.DOTALL)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
CLOSING = {"(": ")", "[": "]", "{": "}"}
CLASS_KEYS = {"class", "struct", "union"}
ACCESS = {"public", "protected", "private"}
SIGNALS = {"signals", "Q_SIGNALS"}  # Qt makes them public
# A parenthesis after one of these does not begin the parameters of a function.
NOT_A_FUNCTION = {"alignas", "decltype", "__attribute__", "explicit", "noexcept", "requires",
                  "throw"}
STARTS_ANEW = CLASS_KEYS | {"namespace", "template", "enum", "using", "static_assert"}


class Unreadable(ValueError):
    """A file that is no C++, or that this reader does not understand. The text names the file."""


@dataclass
class Function:
    """A function, or a method that is declared in a class or defined outside it."""
    name: str
    name_at: int             # the tokens [begin, end) declare it; its name is one of them
    begin: int
    end: int
    scope: tuple             # the namespaces and classes around it; "" is an unnamed namespace
    owner: tuple = ()        # the qualification before its name: ("Agent", "Impl")
    access: str = "public"
    has_body: bool = False
    is_written: bool = True  # neither "= default" nor "= delete"
    is_static: bool = False
    is_const: bool = False
    is_friend: bool = False


@dataclass
class Class:
    name: tuple              # with the classes around it: ("Agent", "Impl")
    namespace: tuple
    key: str                 # class, struct or union
    begin: int               # the tokens [begin, end) define it
    end: int
    access: str              # where it stands in the class around it
    outside: bool            # defined outside the class around it: class Agent::Impl { ... }
    path: Path = Path()
    methods: list = field(default_factory=list)
    data: list = field(default_factory=list)       # names; constants are not among them
    friends: list = field(default_factory=list)    # names of classes, each as it is written
    announced: dict = field(default_factory=dict)  # nested classes declared only: name to access
    has_hidden_part: bool = False                  # private or protected

    @property
    def text(self) -> str:
        return "::".join(self.name)


class Source:
    """One file: its tokens without comments, and what it declares."""

    def __init__(self, path: Path, text: str):
        self.path = path
        self.tokens, unread = _tokens(text)
        # In macros, and in branches of conditionals that are not read.
        self.unread_words = set(IDENTIFIER.findall(" ".join(unread)))
        self.classes: list = []
        self.functions: list = []  # free ones, and methods defined outside their class
        self.announced: list = []  # places of the names of classes that are declared only
        self._match = _matching_brackets(path, self.tokens)
        try:
            self._scope(0, len(self.tokens), (), None)
        except (IndexError, KeyError) as error:
            raise Unreadable(f"{path}:1: the declarations cannot be read") from error

    # --- scopes ---

    def _scope(self, at: int, end: int, scope: tuple, inside: Optional[Class]):
        """Reads declarations up to `end`. `inside` is the class that they are members of."""
        access = "private" if inside and inside.key == "class" else "public"
        tokens = self.tokens
        while at < end:
            token = tokens[at]
            if token in {";", "Q_OBJECT", "Q_GADGET"}:
                at += 1
            elif inside and (token in ACCESS or token in SIGNALS) and \
                    tokens[at + 1] in {":", "slots", "Q_SLOTS"}:
                access = "public" if token in SIGNALS else token
                inside.has_hidden_part |= access != "public"
                at = tokens.index(":", at) + 1
            else:
                following = self._declaration(at, end, scope, inside, access)
                if inside and access != "public" and tokens[at] not in {"using", "friend"}:
                    inside.has_hidden_part = True
                at = following

    def _declaration(self, begin: int, end: int, scope: tuple, inside: Optional[Class],
                     access: str) -> int:
        tokens = self.tokens
        at = self._after_prefix(begin)
        token = tokens[at]
        if token == "namespace" or (token == "inline" and tokens[at + 1] == "namespace"):
            return self._namespace(at, scope)
        if token == "extern" and tokens[at + 1].startswith('"') and tokens[at + 2] == "{":
            self._scope(at + 3, self._match[at + 2], scope, inside)
            return self._match[at + 2] + 1
        if token in {"using", "typedef", "static_assert", "enum"}:
            return self._after_semicolon(at, end)
        if token.startswith("Q_") and tokens[at + 1] == "(":
            return self._match[at + 1] + 1
        if token == "friend" and self._befriended(at, inside):
            return self._after_semicolon(at, end)
        if token in CLASS_KEYS:
            after = self._class(begin, at, end, scope, inside, access)
            if after is not None:
                return after
        return self._function_or_data(begin, at, end, scope, inside, access)

    def _after_prefix(self, at: int) -> int:
        """Past "template <...>", its requirement in parentheses, and [[attributes]]."""
        tokens = self.tokens
        while True:
            if tokens[at] == "template" and tokens[at + 1] == "<":
                at = self._after_angle(at + 1) or at + 2
            elif tokens[at] == "requires" and tokens[at + 1] == "(":
                at = self._match[at + 1] + 1
            elif tokens[at] == "[" and tokens[at + 1] == "[":
                at = self._match[at] + 1
            else:
                return at

    def _namespace(self, at: int, scope: tuple) -> int:
        tokens = self.tokens
        open_at = at
        while tokens[open_at] not in {"{", ";"}:
            open_at += 1
        if tokens[open_at] == ";":  # an alias
            return open_at + 1
        names = tuple(t for t in tokens[at:open_at]
                      if t not in {"inline", "namespace", "::"})
        self._scope(open_at + 1, self._match[open_at], scope + (names or ("",)), None)
        return self._match[open_at] + 1

    def _befriended(self, at: int, inside: Optional[Class]) -> bool:
        """Whether a class is made a friend; the alternative is a function."""
        tokens = self.tokens
        first = at + 2 if tokens[at + 1] in CLASS_KEYS else at + 1
        last = first
        while IDENTIFIER.fullmatch(tokens[last]) or tokens[last] == "::":
            last += 1
        if tokens[last] != ";":
            return False
        if inside:
            inside.friends.append("".join(tokens[first:last]))
        return True

    # --- classes ---

    def _class(self, begin: int, key_at: int, end: int, scope: tuple, inside: Optional[Class],
               access: str) -> Optional[int]:
        """Reads a class; None if the class key only stands before a type's name."""
        tokens = self.tokens
        name, at = self._class_name(key_at + 1)
        if tokens[at] == ";" and name:
            self.announced.append(at - 1)
            if inside:
                inside.announced[name[-1]] = access
            return at + 1
        if tokens[at] == "final":
            at += 1
        if tokens[at] == ":":
            while tokens[at] != "{":
                at += 1
        if tokens[at] != "{":
            return None
        close = self._match[at]
        after = self._after_semicolon(close, end)
        outer = inside.name if inside else ()
        namespace = scope[:len(scope) - len(outer)]
        made = Class(outer + name, namespace, tokens[key_at], begin, after, access,
                     not inside and len(name) > 1, self.path)
        self._scope(at + 1, close, namespace + made.name, made)
        if name:
            self.classes.append(made)
        if inside:
            variables = self._declared_names(close + 1, after)
            inside.data += variables or ([] if name else made.data)
        return after

    def _class_name(self, at: int):
        """The name that follows a class key, qualified or specialised, and the place after it."""
        tokens = self.tokens
        while True:
            at = self._after_prefix(at)
            if tokens[at] in {"alignas", "__attribute__"}:
                at = self._match[at + 1] + 1
            elif IDENTIFIER.fullmatch(tokens[at]) and tokens[at].isupper() and \
                    IDENTIFIER.fullmatch(tokens[at + 1]):
                at += 1  # a macro, for what a library exports
            else:
                break
        name = []
        while IDENTIFIER.fullmatch(tokens[at]) and tokens[at] != "final":
            name.append(tokens[at])
            at += 1
            if tokens[at] == "<":
                after = self._after_angle(at) or at + 1
                if tokens[after] in {"{", ":", ";", "::"}:
                    name[-1] += "".join(tokens[at:after])
                at = after
            if tokens[at] != "::":
                break
            at += 1
        return tuple(name), at

    # --- functions and variables ---

    def _function_or_data(self, begin: int, at: int, end: int, scope: tuple,
                          inside: Optional[Class], access: str) -> int:
        tokens = self.tokens
        first = at
        while at < end:
            token = tokens[at]
            if token == "operator":
                parameters = at + 3 if tokens[at + 1] == "(" else at + 1
                while tokens[parameters] != "(":
                    parameters += 1
                return self._function(begin, first, at, parameters, end, scope, inside, access)
            if token == "<" and IDENTIFIER.fullmatch(tokens[at - 1]):
                at = self._after_angle(at) or at + 1
            elif token == "(":
                if tokens[at - 1] in NOT_A_FUNCTION:
                    at = self._match[at] + 1
                elif tokens[at + 1] in {"*", "&"} and tokens[self._match[at] + 1] in {"(", "["}:
                    at = self._match[at] + 1  # a pointer to a function
                    break
                elif at == first:  # a macro's call has lost its name, or an expression
                    at = self._match[at] + 1
                else:
                    return self._function(begin, first, at - 1, at, end, scope, inside, access)
            elif token == "[":
                at = self._match[at] + 1
            elif token in {"=", ":", ";", "{", ","}:
                break
            else:
                at += 1
        after = self._after_semicolon(at, end)
        if inside and not self._is_constant(tokens[first:at]):
            inside.data += self._declared_names(first, after)
        return after

    @staticmethod
    def _is_constant(specifiers: list) -> bool:
        return "static" in specifiers and ("constexpr" in specifiers or "const" in specifiers)

    def _function(self, begin: int, first: int, name_at: int, parameters: int, end: int,
                  scope: tuple, inside: Optional[Class], access: str) -> int:
        tokens = self.tokens
        name = tokens[name_at]
        if name == "operator":
            name = "".join(tokens[name_at:parameters])
        if tokens[name_at - 1] == "~" and name_at > first:
            name, name_at = "~" + name, name_at - 1
        made = Function(name, name_at, begin, end, scope, self._qualification(name_at, first),
                        access)
        specifiers = tokens[first:name_at]
        made.is_static = "static" in specifiers
        made.is_friend = "friend" in specifiers
        at = self._match[parameters] + 1
        while at < end:
            token = tokens[at]
            if token == ";":
                at += 1
                break
            if token == "{":
                made.has_body = True
                at = self._match[at] + 1
                break
            if token == "=":
                made.is_written = tokens[at + 1] not in {"default", "delete"}
                at = self._after_semicolon(at, end)
                break
            if token == ":":
                at = self._after_initialisers(at + 1)
            elif token in STARTS_ANEW:  # a macro's call without a semicolon
                break
            elif token == "requires" and tokens[at + 1] == "requires":
                while tokens[at] != "{":
                    at += 1
                at = self._match[at] + 1
            elif token in CLOSING:
                at = self._match[at] + 1
            else:
                made.is_const |= token == "const"
                at += 1
        made.end = at
        if inside:
            inside.methods.append(made)
        else:
            self.functions.append(made)
        return at

    def _qualification(self, name_at: int, first: int) -> tuple:
        """The classes before the name, without template arguments: A<T>::B::name gives (A, B)."""
        tokens = self.tokens
        owner = []
        at = name_at - 1
        while at > first and tokens[at] == "::":
            at -= 1
            if tokens[at] == ">":
                depth = 0
                while at > first:
                    depth += (tokens[at] == ">") - (tokens[at] == "<")
                    at -= 1
                    if depth == 0:
                        break
            if not IDENTIFIER.fullmatch(tokens[at]):
                break
            owner.insert(0, tokens[at])
            at -= 1
        return tuple(owner)

    def _after_initialisers(self, at: int) -> int:
        """Past ": a_(1), B<int>{2}, c_(pack)..." of a constructor."""
        tokens = self.tokens
        while True:
            while tokens[at] not in {"(", "{"}:
                at = (tokens[at] == "<" and self._after_angle(at)) or at + 1
            at = self._match[at] + 1
            while tokens[at] == ".":
                at += 1
            if tokens[at] != ",":
                return at
            at += 1

    def _declared_names(self, at: int, after: int) -> list:
        """The variables of a declaration that ends before `after`: int a = f(1, 2), *b{3}, c : 4;"""
        tokens = self.tokens
        names = []
        last = None  # the identifier last read, in a declarator whose name is not known yet
        taken = False
        while at < after:
            token = tokens[at]
            if token == "<" and at and IDENTIFIER.fullmatch(tokens[at - 1]):
                at = self._after_angle(at) or at + 1
                continue
            if token in {"=", "{", ":", ";", ","} or (token == "[" and last):
                if last and not taken:
                    names.append(last)
                    taken = True
                if token == ",":
                    last, taken = None, False
            if token == "(" and tokens[at + 1] in {"*", "&"} and not taken:
                last = tokens[self._match[at] - 1]
            if token in CLOSING:
                at = self._match[at]
            elif IDENTIFIER.fullmatch(token) and not taken:
                last = token
            at += 1
        return names

    # --- places ---

    def _after_semicolon(self, at: int, end: int) -> int:
        tokens, match = self.tokens, self._match
        while at < end:
            token = tokens[at]
            if token == ";":
                return at + 1
            at = match[at] + 1 if token in CLOSING else at + 1
        return end

    def _after_angle(self, at: int) -> Optional[int]:
        """Past the template arguments that begin with the "<" at `at`; None: it is a comparison."""
        tokens, match = self.tokens, self._match
        depth = 0
        while at < len(tokens):
            token = tokens[at]
            if token in CLOSING:
                at = match[at]
            elif token == "<":
                depth += 1
            elif token == ">":
                depth -= 1
                if depth == 0:
                    return at + 1
            elif token in {";", "{", "}", ")", "]"}:
                return None
            at += 1
        return None


def _tokens(text: str):
    """The tokens of the code that is read; the macros, and the tokens of the second branches."""
    code, unread = [], []
    skipped = 0  # conditionals since a branch that is not read; 0: all is read
    for match in TOKEN.finditer(text):
        token = match.group()
        first = token.lstrip()[0]
        if first == "#":
            word = token.lstrip().lstrip("# \t")
            if skipped:
                skipped += word.startswith("if") - word.startswith("endif")
            elif word.startswith(("else", "elif")):
                skipped = 1
            elif word.startswith("define"):
                unread.append(word)
        elif first != "/" or token[:2] not in {"//", "/*"}:
            (unread if skipped else code).append(token)
    return code, unread


def _matching_brackets(path: Path, tokens: list) -> dict:
    match, open_at = {}, []
    for at, token in enumerate(tokens):
        if token in CLOSING:
            open_at.append(at)
        elif token in {")", "]", "}"}:
            if not open_at or CLOSING[tokens[open_at[-1]]] != token:
                raise Unreadable(f"{path}:1: a {token} closes nothing")
            match[open_at.pop()] = at
    if open_at:
        raise Unreadable(f"{path}:1: a {tokens[open_at[-1]]} is not closed")
    return match


class LineCounts(NamedTuple):
    code: int      # neither blank nor begun by a comment; a comment may follow the code
    comments: int  # lines that begin with a comment, or lie within one


def line_counts(text: str) -> LineCounts:
    code, comments, in_comment = 0, 0, False
    for line in text.splitlines():
        line = line.strip()
        if in_comment or line.startswith("/*"):
            in_comment = "*/" not in line
            comments += 1
        elif line.startswith("//"):
            comments += 1
        elif line:
            code += 1
    return LineCounts(code, comments)


def read(root: Path, paths: Iterator[Path]) -> list:
    return [Source(path, (root / path).read_text(encoding="utf-8", errors="replace"))
            for path in paths]
