"""Runs a TNA program of P4-16 on frames: the part of the language and of the architecture that
aggregator_tna.p4.in uses. It knows nothing of stages, containers and other limits of a Tofino.

One switch is one object; its registers and tables live as long as it does."""

import sys
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "p4"))
import p4_model  # noqa: E402
from p4_reader import P4Error, Reader, Record, Register, Value, fitted, tokens_of  # noqa: E402

RECIRCULATION = 68
INTRINSIC = {"intrinsic": {"ingress_port": 9}, "parsed": {"parser_err": 16}, "deparser": {"drop_ctl": 3},
             "manager": {"ucast_egress_port": 9, "mcast_grp_a": 16, "bypass_egress": 1}}


class RegisterAction(NamedTuple):
    register: str
    value: str
    result: str
    result_width: int
    body: Callable


class Table:
    def __init__(self, keys: list, default: tuple, entries: list):
        self.keys, self.default, self.entries, self.rows = keys, default, entries, {}

    def chosen(self, env: "Gress") -> tuple:
        values = [key(env) for key in self.keys]
        for wanted, call in self.entries:
            if len(wanted) != len(values):
                raise P4Error(f"an entry of {len(wanted)} for {len(values)} keys")
            if all(one is None or value.number & one[1] == one[0] & one[1]
                   for one, value in zip(wanted, values)):
                return call
        return self.rows.get(tuple(value.number for value in values), self.default)


class TnaReader(Reader):
    def postfix(self) -> Callable:
        name, method = self.peek(), self.peek(2)
        if self.peek(1) == "." and self.peek(3) == "(" and method in ("execute", "get", "update"):
            self.at += 4
            if self.peek() == "{":
                arguments = self.tuple_of()[0]
            else:
                arguments = [self.expression()]
            self.take(")")
            return lambda env: env.result_of(name, method, arguments)
        return super().postfix()

    def kind(self) -> Any:
        return self.width() if self.peek() == "bit" else self.take()

    def kinds_in(self) -> list:
        """The types between < and >."""
        found = []
        self.take("<")
        while not self.taken(">"):
            found.append(self.kind())
            self.taken(",")
        return found

    def call(self) -> tuple:
        name, arguments = self.take(), []
        self.take("(")
        while not self.taken(")"):
            arguments.append(self.expression())
            self.taken(",")
        self.take(";")
        return name, arguments

    def table(self) -> Table:
        keys, default, entries = [], ("NoAction", []), []
        self.take("{")
        while not self.taken("}"):
            self.taken("const")
            part = self.take()
            self.take("=")
            if part == "default_action":
                default = self.call()
            elif part == "size":
                self.expression()
                self.take(";")
            else:
                self.take("{")
                while not self.taken("}"):
                    if part == "key":
                        keys.append(self.expression())
                        self.take(":")
                        self.take()
                        self.take(";")
                    elif part == "actions":
                        self.take()
                        self.take(";")
                    else:
                        wanted = self.patterns(")" if self.taken("(") else ":")
                        self.taken(":")
                        entries.append((wanted, self.call()))
        return Table(keys, default, entries)

    def register_action(self) -> RegisterAction:
        kinds = self.kinds_in()
        self.take("(")
        register = self.take()
        self.take(")")
        name = self.take()
        for token in ("=", "{", "void", "apply", "(", "inout"):
            self.take(token)
        self.kind()
        value = self.take()
        self.take(",")
        self.take("out")
        self.kind()
        result = self.take()
        self.take(")")
        action = RegisterAction(register, value, result, kinds[2], self.block())
        self.take("}")
        self.take(";")
        self.parts["instances"][name] = action
        return action

    def control(self) -> dict:
        self.skip_parameters()
        self.take("{")
        self.parts = parts = {"registers": {}, "counters": [], "actions": {"NoAction": ([], lambda env: None)},
                              "tables": {}, "instances": {}}
        while not self.taken("}"):
            word = self.take()
            if word in ("Register", "Counter", "Hash", "Checksum"):
                kinds = self.kinds_in() if self.peek() == "<" else []
                self.take("(")
                size = None if word in ("Hash", "Checksum") else self.expression()
                while not self.taken(")"):
                    self.take()
                name = self.take()
                self.take(";")
                if word == "Register":
                    parts["registers"][name] = (kinds[0], size(None).number)
                elif word == "Counter":
                    parts["counters"].append(name)
                else:
                    parts["instances"][name] = kinds[0] if kinds else word
            elif word == "RegisterAction":
                self.register_action()
            elif word == "table":
                name = self.take()
                parts["tables"][name] = self.table()
            elif word == "action":
                name = self.take()
                self.take("(")
                parameters = []
                while not self.taken(")"):
                    parameters.append((self.width(), self.take()))
                    self.taken(",")
                parts["actions"][name] = (parameters, self.block())
            elif word == "apply":
                parts["apply"] = self.block()
            else:
                raise P4Error(f"expected a declaration of a control, got {word!r}")
        return parts


class Gress(p4_model.Environment):
    """The objects of one packet in ingress or egress."""

    def __init__(self, switch: "Switch", name: str, frame: bytes, port: int):  # pylint: disable=super-init-not-called
        self.switch, self.scopes, self.used = switch, [{}], set()
        self.control = switch.reader.blocks[name]
        kinds = switch.reader.kinds
        self.objects = {"hdr": Record(kinds, *kinds["headers_t"]),
                        "meta": Record(kinds, *kinds[f"{name.lower()}_t"]),
                        "in_": p4_model.Packet(frame), "out_": p4_model.Output(),
                        **switch.counters[name], **self.control["tables"],
                        **{one: Record(kinds, fields, False) for one, fields in INTRINSIC.items()}}
        self.objects["intrinsic"].fields["ingress_port"] = port

    def call(self, name: str, arguments: list) -> None:
        self.run(name, [value(self) for value, _ in arguments])

    def run(self, name: str, values: list) -> None:
        parameters, block = self.control["actions"][name]
        if len(parameters) != len(values):
            raise P4Error(f"action {name} has {len(parameters)} parameters and gets {len(values)} values")
        self.scopes.append({one: Value(fitted(value, width, one), width)
                            for (width, one), value in zip(parameters, values)})
        block(self)
        self.scopes.pop()

    def method(self, owner: Any, method: str, arguments: list) -> None:
        if method == "apply":
            name, values = owner.chosen(self)
            self.run(name, [value(self) if callable(value) else Value(value, None) for value in values])
        elif method == "setInvalid":
            owner.valid = False
        elif method == "extract" and arguments[0][1][2](self) is self.objects["intrinsic"]:
            pass
        elif method != "advance":
            super().method(owner, method, arguments)

    def result_of(self, name: str, method: str, arguments: list) -> Value:
        values = [one(self) for one in arguments]
        if method == "update":
            return p4_model.checksum(values)
        if method == "get":
            number, width = 0, 0
            for value in values:
                number, width = number << value.width | value.number, width + value.width
            return Value(fitted(Value(number, width), self.control["instances"][name], name), width)
        action = self.control["instances"][name]
        if action.register in self.used:
            raise P4Error(f"a packet accesses the register {action.register} twice")
        self.used.add(action.register)
        register = self.switch.registers[action.register]
        at = values[0].number
        cell = register.cells[at]
        scope = {action.value: cell if isinstance(cell, Record) else Value(cell, register.width),
                 action.result: Value(0, action.result_width)}
        self.scopes.append(scope)
        action.body(self)
        self.scopes.pop()
        if not isinstance(cell, Record):
            register.cells[at] = scope[action.value].number
        return scope[action.result]

    def parse(self, states: dict) -> None:
        state = "start"
        try:
            while state not in ("accept", "reject"):
                steps, transition = states[state]
                for step in steps:
                    step(self)
                state = transition(self)
        except p4_model.TooShort:
            self.objects["parsed"].fields["parser_err"] = 1

    def pass_through(self, parser: dict, deparser: dict) -> Optional[bytes]:
        """The frame that leaves this half of the pipe."""
        self.parse(parser)
        self.control["apply"](self)
        if self.objects["deparser"].fields["drop_ctl"] & 1:
            return None
        self.control = deparser
        deparser["apply"](self)
        return self.objects["out_"].frame + self.objects["in_"].frame[self.objects["in_"].at:]


class Switch:
    def __init__(self, text: str):
        self.reader = TnaReader(tokens_of(text))
        self.reader.program()
        self.gresses = ("Ingress", "Egress")
        self.restart()

    def restart(self) -> None:
        self.registers, self.counters = {}, {}
        for gress in self.gresses:
            block = self.reader.blocks[gress]
            self.counters[gress] = {name: {} for name in block["counters"]}
            for table in block["tables"].values():
                table.rows = {}
            for name, (kind, size) in block["registers"].items():
                register = Register(kind, size)
                if not isinstance(kind, int):
                    register.cells = [Record(self.reader.kinds, *self.reader.kinds[kind]) for _ in range(size)]
                self.registers[name] = register

    def write(self, write: dict) -> None:
        """A write of control.py."""
        if "register" in write:
            self.registers[write["register"]].cells[write["index"]] = write["value"]
            return
        tables = {name: table for gress in self.gresses
                  for name, table in self.reader.blocks[gress]["tables"].items()}
        tables[write["table"]].rows[tuple(write["key"])] = (write["action"], write["data"])

    def handle(self, frame: bytes, port: int) -> Optional[tuple]:
        """The port and the bytes of the frame that leaves the switch, if one does."""
        blocks = self.reader.blocks
        ingress = Gress(self, "Ingress", frame, port)
        left = ingress.pass_through(blocks["IngressParser"], blocks["IngressDeparser"])
        if left is None:
            return None
        manager = ingress.objects["manager"].fields
        if manager["mcast_grp_a"]:
            raise P4Error("multicast by the packet replication engine")
        out = manager["ucast_egress_port"]
        if not manager["bypass_egress"]:
            egress = Gress(self, "Egress", left, port)
            left = egress.pass_through(blocks["EgressParser"], blocks["EgressDeparser"])
        if left is None:
            return None
        return self.handle(left, RECIRCULATION) if out == RECIRCULATION else (out, left)
