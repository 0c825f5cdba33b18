"""Runs a v1model program of P4-16 on frames. It stands in for BMv2 where that cannot be had.

One switch is one object; its registers live as long as it does."""

from typing import Any, Optional

from p4_reader import P4Error, Reader, Record, Register, Stack, Value, fitted, tokens_of


class TooShort(Exception):
    pass


class Packet:
    def __init__(self, frame: bytes):
        self.frame, self.at = frame, 0

    def extract(self, record: Record) -> None:
        size = record.bits() // 8
        if self.at + size > len(self.frame):
            raise TooShort
        number = int.from_bytes(self.frame[self.at:self.at + size], "big")
        for name, width in reversed(record.widths.items()):
            record.fields[name] = number & ((1 << width) - 1)
            number >>= width
        self.at += size
        record.valid = True


class Output:
    def __init__(self):
        self.frame = b""

    def emit(self, what: Any) -> None:
        if isinstance(what, Stack):
            for item in what.items:
                self.emit(item)
        elif what.valid:
            number = 0
            for name, width in what.widths.items():
                number = number << width | what.fields[name]
            self.frame += number.to_bytes(what.bits() // 8, "big")


class Environment:
    """The objects of one packet, the switch's registers, and the scopes of local variables."""

    def __init__(self, switch: "Switch", frame: bytes, port: int):
        self.switch, self.scopes = switch, [{}]
        kinds = switch.reader.kinds
        standard = {"ingress_port": 9, "egress_spec": 9, "mcast_grp": 16, "parser_error": 8}
        self.objects = {"hdr": Record(kinds, *kinds["headers_t"]), "meta": Record(kinds, *kinds["metadata_t"]),
                        "standard": Record(kinds, standard, False), "error": Record(kinds, {"NoError": 8}, False),
                        "in_": Packet(frame), "out_": Output(), **switch.registers, **switch.counters}
        self.objects["standard"].fields["ingress_port"] = port

    def find(self, name: str) -> Any:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name not in self.objects:
            raise P4Error(f"nothing has the name {name}")
        return self.objects[name]

    def declare(self, name: str, width: int, value: Value) -> None:
        self.scopes[-1][name] = Value(fitted(value, width, name), width)

    def set(self, name: str, value: Value) -> None:
        for scope in reversed(self.scopes):
            if name in scope:
                scope[name] = Value(fitted(value, scope[name].width, name), scope[name].width)
                return
        raise P4Error(f"no variable has the name {name}")

    def call(self, name: str, arguments: list) -> None:
        if name == "mark_to_drop":
            self.objects["standard"].fields["egress_spec"] = 511
        elif name == "update_checksum":
            if arguments[0][0](self).number:
                arguments[2][1][1](self, checksum([one(self) for one in arguments[1][0]]))
        else:
            parameters, block = self.switch.control["actions"][name]
            scope = {one: Value(fitted(value(self), width, one), width)
                     for (width, one), (value, _) in zip(parameters, arguments)}
            self.scopes.append(scope)
            block(self)
            self.scopes.pop()

    def method(self, owner: Any, method: str, arguments: list) -> None:
        if method == "read":
            at = arguments[1][0](self).number
            arguments[0][1][1](self, Value(owner.cells[at], owner.width))
        elif method == "write":
            owner.cells[arguments[0][0](self).number] = fitted(arguments[1][0](self), owner.width, "a register")
        elif method == "count":
            owner[arguments[0][0](self).number] = owner.get(arguments[0][0](self).number, 0) + 1
        elif method in ("extract", "emit"):
            getattr(owner, method)(arguments[0][1][2](self))
        elif method == "setValid":
            owner.valid = True
        else:
            raise P4Error(f"no method has the name {method}")


def checksum(values: list) -> Value:
    number, width = 0, 0
    for value in values:
        number, width = number << value.width | value.number, width + value.width
    total = 0
    while number:
        total, number = total + (number & 0xffff), number >> 16
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return Value(~total & 0xffff, 16)


class Switch:
    """A program with the blocks of V1Switch, by the names of aggregator.p4.in."""

    def __init__(self, text: str):
        self.reader = Reader(tokens_of(text))
        self.reader.program()
        blocks = self.reader.blocks
        self.states, self.control = blocks["AggregatorParser"], blocks["Aggregator"]
        self.checksum, self.deparser = blocks["Checksum"], blocks["AggregatorDeparser"]
        self.restart()

    def restart(self) -> None:
        self.registers = {name: Register(*shape) for name, shape in self.control["registers"].items()}
        self.counters = {name: {} for name in self.control["counters"]}

    def handle(self, frame: bytes, port: int) -> Optional[tuple]:
        """The port and the bytes of the frame that leaves, if one does."""
        env = Environment(self, frame, port)
        state = "start"
        try:
            while state not in ("accept", "reject"):
                steps, transition = self.states[state]
                for step in steps:
                    step(env)
                state = transition(env)
        except TooShort:
            env.objects["standard"].fields["parser_error"] = 1
        self.control["apply"](env)
        standard = env.objects["standard"].fields
        if standard["egress_spec"] == 511:
            return None
        if standard["mcast_grp"]:
            raise P4Error("multicast by the packet replication engine")
        self.checksum["apply"](env)
        self.deparser["apply"](env)
        rest = env.objects["in_"].frame[env.objects["in_"].at:]
        return standard["egress_spec"], env.objects["out_"].frame + rest
