"""Reads a v1model program of P4-16: the part of the language that aggregator.p4.in uses.

Expressions and statements become functions that p4_model.py runs. Widths are checked then: operands
of +, &, == and of assignments must have the same number of bits, as P4's compilers demand. Unknown
syntax is an error.
"""

import re
from typing import Any, Callable, NamedTuple, Optional

TOKEN = re.compile(r"\s+|//[^\n]*|@\w+|(\d+w0x[0-9a-fA-F]+|\d+w\d+|0x[0-9a-fA-F]+|\d+|\w+|"
                   r"&&&|\|-\||\+\+|<<|<=|>=|==|!=|&&|\|\||[-+*/&|^~!<>=(){}\[\];:,.?_])")
LEVELS = [["||"], ["&&"], ["==", "!="], ["<", ">", "<=", ">="], ["|"], ["^"], ["&"], ["<<", ">>"],
          ["++", "+", "-", "|-|"], ["*"]]


class P4Error(Exception):
    pass


class Value(NamedTuple):
    number: int
    width: Optional[int]  # None: a constant without a width; 0: a boolean


def tokens_of(text: str) -> list:
    defines = dict(re.findall(r"^#define (\w+) (\w+)", text, re.M))
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise P4Error(f"no token at {text[at:at + 20]!r}")
        if match.group(1):
            found.append(defines.get(match.group(1), match.group(1)))
        at = match.end()
    return found


class Record:
    """An instance of a struct or a header."""

    def __init__(self, kinds: dict, fields: dict, is_header: bool):
        self.is_header, self.valid, self.widths, self.fields = is_header, False, {}, {}
        for name, kind in fields.items():
            if isinstance(kind, int):
                self.widths[name], self.fields[name] = kind, 0
            else:
                base, count = kind
                made = [Record(kinds, *kinds[base]) for _ in range(count or 1)]
                self.fields[name] = Stack(made) if count else made[0]

    def bits(self) -> int:
        return sum(self.widths.values())


class Stack:
    def __init__(self, items: list):
        self.items, self.next = items, 0


class Register:
    def __init__(self, width: int, size: int):
        self.width, self.cells = width, [0] * size


class Reader:
    """Parses tokens into functions that run on an Environment."""

    def __init__(self, tokens: list):
        self.tokens, self.at = tokens, 0
        self.kinds, self.constants, self.blocks = {}, {}, {}

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, expected: Optional[str] = None) -> str:
        token = self.peek()
        if expected is not None and token != expected:
            raise P4Error(f"expected {expected!r}, got {' '.join(self.tokens[self.at - 5:self.at + 5])!r}")
        self.at += 1
        return token

    def taken(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.at += 1
        return True

    # --- expressions

    def expression(self, level: int = 0) -> Callable:
        if level == len(LEVELS):
            return self.unary()
        left = self.expression(level + 1)
        while True:
            operator = self.peek()
            if operator == ">" and self.peek(1) == ">" and ">>" in LEVELS[level]:
                operator = ">>"
                self.at += 1
            if operator not in LEVELS[level] or (operator == ">" and self.peek(1) == ">"):
                return left
            self.at += 1
            left = binary(operator, left, self.expression(level + 1))

    def unary(self) -> Callable:
        if self.taken("!"):
            inner = self.unary()
            return lambda env: Value(int(not inner(env).number), 0)
        if self.taken("~"):
            inner = self.unary()
            return lambda env: inverted(inner(env))
        if self.peek() == "(" and self.peek(1) == "bit":
            self.take("(")
            width = self.width()
            self.take(")")
            inner = self.unary()
            return lambda env: Value(inner(env).number & ((1 << width) - 1), width)
        return self.postfix()

    def postfix(self) -> Callable:
        if self.taken("("):
            result = self.expression()
            self.take(")")
            return result
        token = self.take()
        if re.fullmatch(r"\d+w\w+", token):
            width, number = token.split("w")
            value = Value(int(number, 0), int(width))
            return lambda env: value
        if token[0].isdigit():
            value = Value(int(token, 0), None)
            return lambda env: value
        if token in self.constants:
            value = self.constants[token]
            return lambda env: value
        return self.path(token)[0]

    def path(self, name: str) -> tuple:
        """The functions that read and that write what the path names."""
        def of_name(env):
            return env.find(name)
        found, read, write = of_name, as_value(of_name), lambda env, value: env.set(name, value)
        while self.peek() in (".", "["):
            if self.peek() == "." and self.peek(2) == "(" and self.peek(1) != "isValid":
                break  # a method, which statements call
            if self.taken("."):
                found, read, write = self.member(found, self.take())
            else:
                self.take("[")
                first = self.expression()
                if self.taken(":"):
                    read, write = slice_of(read, write, first, self.expression())
                else:
                    found = item_of(found, first)
                    read = as_value(found)
                self.take("]")
        return read, write, found

    def member(self, owner: Callable, name: str) -> tuple:
        if name == "isValid":
            self.take("(")
            self.take(")")
            return owner, lambda env: Value(int(owner(env).valid), 0), None

        def found(env):
            record = owner(env)
            return next_of(record) if name == "next" else record.fields[name]

        def read(env):
            record = owner(env)
            return Value(record.fields[name], record.widths[name])

        def write(env, value):
            record = owner(env)
            record.fields[name] = fitted(value, record.widths[name], name)
        return found, read, write

    def width(self) -> int:
        self.take("bit")
        self.take("<")
        width = int(self.take())
        self.take(">")
        return width

    # --- statements

    def block(self) -> Callable:
        self.take("{")
        steps = []
        while not self.taken("}"):
            steps.append(self.statement())

        def run(env):
            for step in steps:
                step(env)
        return run

    def statement(self) -> Callable:
        if self.peek() == "{":
            return self.block()
        if self.taken("if"):
            self.take("(")
            condition = self.expression()
            self.take(")")
            then = self.statement()
            other = self.statement() if self.taken("else") else lambda env: None
            return lambda env: then(env) if condition(env).number else other(env)
        if self.peek() == "bit":
            width = self.width()
            name = self.take()
            start = self.expression() if self.taken("=") else lambda env: Value(0, width)
            self.take(";")
            return lambda env: env.declare(name, width, start(env))
        return self.assignment_or_call()

    def assignment_or_call(self) -> Callable:
        name = self.take()
        _, write, found = self.path(name)
        if self.taken("="):
            value = self.expression()
            self.take(";")
            return lambda env: write(env, value(env))
        method = self.take() if self.taken(".") else None
        self.take("(")
        arguments = []
        while not self.taken(")"):
            arguments.append(self.argument())
            self.taken(",")
        self.take(";")
        if method is None:
            return lambda env: env.call(name, arguments)
        return lambda env: env.method(found(env), method, arguments)

    def argument(self) -> tuple:
        """A value, and the functions of path() if it is one."""
        if self.peek() == "{":
            return self.tuple_of()
        begin = self.at
        value, end = self.expression(), self.at
        path = None
        if re.fullmatch(r"[a-z]\w*", self.tokens[begin]):
            self.at = begin + 1
            path = self.path(self.tokens[begin])
            path = path if self.at == end else None
            self.at = end
        return value, path

    def tuple_of(self) -> tuple:
        self.take("{")
        parts = []
        while not self.taken("}"):
            parts.append(self.expression())
            self.taken(",")
        return parts, None

    # --- declarations

    def program(self) -> None:
        while self.at < len(self.tokens):
            word = self.take()
            if word == "const":
                width, name = self.width(), self.take()
                self.take("=")
                self.constants[name] = Value(self.expression()(None).number, width)
                self.take(";")
            elif word in ("header", "struct"):
                name = self.take()
                self.kinds[name] = (self.fields(), word == "header")
            elif word in ("parser", "control"):
                name = self.take()
                self.blocks[name] = self.parser() if word == "parser" else self.control()
            else:
                while self.take() != ";":
                    pass

    def fields(self) -> dict:
        self.take("{")
        fields = {}
        while not self.taken("}"):
            kind: Any = self.width() if self.peek() == "bit" else self.take()
            count = 0
            if self.taken("["):
                count = int(self.take())
                self.take("]")
            fields[self.take()] = kind if isinstance(kind, int) else (kind, count)
            self.take(";")
        return fields

    def skip_parameters(self) -> None:
        self.take("(")
        while self.take() != ")":
            pass

    def parser(self) -> dict:
        self.skip_parameters()
        self.take("{")
        states = {}
        while not self.taken("}"):
            self.take("state")
            name = self.take()
            self.take("{")
            steps = []
            while self.peek() != "transition":
                steps.append(self.statement())
            self.take("transition")
            states[name] = (steps, self.transition())
            self.take("}")
        return states

    def transition(self) -> Callable:
        if self.peek() != "select":
            name = self.take()
            self.take(";")
            return lambda env: name
        self.take("select")
        self.take("(")
        keys = self.list_until(")")
        self.take("{")
        cases = []
        while not self.taken("}"):
            if self.taken("default"):
                wanted = [None] * len(keys)
            elif self.taken("("):
                wanted = self.patterns(")")
            else:
                wanted = self.patterns(":")
                self.at -= 1
            self.take(":")
            cases.append((wanted, self.take()))
            self.take(";")

        def choose(env):
            values = [key(env) for key in keys]
            for wanted, state in cases:
                if len(wanted) != len(keys):
                    raise P4Error(f"a case of {len(wanted)} for {len(keys)} keys")
                if all(one is None or value.number & one[1] == one[0] & one[1]
                       for one, value in zip(wanted, values)):
                    return state
            return "reject"
        return choose

    def list_until(self, end: str) -> list:
        found = []
        while not self.taken(end):
            found.append(self.expression())
            self.taken(",")
        return found

    def patterns(self, end: str) -> list:
        found = []
        while not self.taken(end):
            if self.taken("_"):
                found.append(None)
            else:
                value, mask = self.postfix()(None).number, -1
                if self.taken("&&&"):
                    mask = self.postfix()(None).number
                found.append((value, mask))
            self.taken(",")
        return found

    def control(self) -> dict:
        self.skip_parameters()
        self.take("{")
        parts = {"registers": {}, "counters": [], "actions": {}}
        while not self.taken("}"):
            word = self.peek()
            if word == "register":
                self.take()
                self.take("<")
                width = self.width()
                self.take(">")
                self.take("(")
                size = self.expression()(None).number
                self.take(")")
                parts["registers"][self.take()] = (width, size)
                self.take(";")
            elif word == "counter":
                while self.take() != ")":
                    pass
                parts["counters"].append(self.take())
                self.take(";")
            elif word == "action":
                self.take()
                name = self.take()
                self.take("(")
                parameters = []
                while not self.taken(")"):
                    self.take("in")
                    parameters.append((self.width(), self.take()))
                    self.taken(",")
                parts["actions"][name] = (parameters, self.block())
            else:
                self.take("apply")
                parts["apply"] = self.block()
        return parts


def fitted(value: Value, width: int, name: str) -> int:
    if value.width not in (None, width) or (value.width is None and value.number >> width):
        raise P4Error(f"{name} has {width} bits and gets a value of {value.width}")
    return value.number


def inverted(value: Value) -> Value:
    if not value.width:
        raise P4Error("~ of a value without a width")
    return Value(~value.number & ((1 << value.width) - 1), value.width)


def next_of(stack: Stack) -> Record:
    stack.next += 1
    return stack.items[stack.next - 1]


def as_value(found: Callable) -> Callable:
    def read(env):
        value = found(env)
        return value if isinstance(value, Value) else Value(value[0], value[1])
    return read


def item_of(found: Callable, index: Callable) -> Callable:
    return lambda env: found(env).items[index(env).number]


def slice_of(read: Callable, write: Callable, high: Callable, low: Callable) -> tuple:
    top, bottom = high(None).number, low(None).number
    width, mask = top - bottom + 1, (1 << (top - bottom + 1)) - 1

    def read_slice(env):
        value = read(env)
        if value.width is None or top >= value.width or width < 1:
            raise P4Error(f"bits [{top}:{bottom}] of a value of {value.width} bits")
        return Value(value.number >> bottom & mask, width)

    def write_slice(env, value):
        old = read(env)
        if top >= old.width:
            raise P4Error(f"bits [{top}:{bottom}] of {old.width}")
        number = fitted(value, width, "a slice")
        write(env, Value(old.number & ~(mask << bottom) | number << bottom, old.width))
    return read_slice, write_slice


def binary(operator: str, left: Callable, right: Callable) -> Callable:
    def shift(a, b):
        if a.width is None:
            raise P4Error("a shift of a constant without a width by a variable")
        moved = a.number << b.number if operator == "<<" else a.number >> b.number
        return Value(moved & ((1 << a.width) - 1), a.width)

    def joined(a, b):
        if not a.width or not b.width:
            raise P4Error("++ of a value without a width")
        return Value(a.number << b.width | b.number, a.width + b.width)

    arithmetic = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__, "&": int.__and__,
                  "|": int.__or__, "^": int.__xor__}
    arithmetic["|-|"] = lambda a, b: max(a - b, 0)
    compare = {"==": int.__eq__, "!=": int.__ne__, "<": int.__lt__, ">": int.__gt__,
               "<=": int.__le__, ">=": int.__ge__}

    def run(env):
        if operator in ("&&", "||"):
            first = left(env)
            if first.width != 0:
                raise P4Error(f"{operator} of a value that is no boolean")
            if bool(first.number) == (operator == "||"):
                return first
            return right(env)
        a, b = left(env), right(env)
        if operator in ("<<", ">>"):
            return shift(a, b)
        if operator == "++":
            return joined(a, b)
        if a.width != b.width and None not in (a.width, b.width):
            raise P4Error(f"{operator} of {a.width} and {b.width} bits")
        if operator in compare:
            return Value(int(compare[operator](a.number, b.number)), 0)
        width = a.width if a.width is not None else b.width
        number = arithmetic[operator](a.number, b.number)
        return Value(number if width is None else number & ((1 << width) - 1), width)
    return run
