#!/usr/bin/env python3
"""Writes the P4 program of the aggregator for Tofino.

usage: generate.py FILE

P4 has no loops, so aggregator_tna.p4.in has a line //@ NAME for each part that is written here.
"""

import sys
from pathlib import Path

TEMPLATE = Path(__file__).with_name("aggregator_tna.p4.in")
LANES, WORD, AGENTS_MAX, COUNT_MAX, COUNT_MAX_WIDE = 64, 4, 32, 1024, 512
WORDS, BYTES = LANES // WORD, LANES // 2
INDENTS = {"levels": 2, "sums": 2, "known": 6, "sizes": 6, "members": 6, "agent_bits": 6, "registers": 2,
           "register_actions": 2, "look_ups": 2, "pieces": 2, "apply_look_ups": 6, "apply_pieces": 8}


def little(number: int) -> str:
    """A constant of 16 bits as the field has it, whose bytes are little-endian."""
    return f"0x{number & 0xff:02x}{number >> 8:02x}"


def known() -> list:
    """Packets of the protocol: a refusal has a reason, 1 to 14; the others have none."""
    start = "0x544e, 1,"
    lines = [f"({start} {kind}, 0 &&& 0xfe, 0) : is_known();" for kind in ("CONTRIBUTION", "RESULT")]
    return lines + [f"({start} REFUSAL, 0 &&& 0xfe, {reasons}) : is_known();"
                    for reasons in ("1", "2 &&& 0xfe", "4 &&& 0xfc", "8 &&& 0xfc", "12 &&& 0xfe", "14")]


def sizes() -> list:
    """The length of the datagram, with the header of UDP."""
    lines = ["(REFUSAL, _, _) : is_sized(32);"]
    for count in range(LANES, COUNT_MAX + 1, LANES):
        lines.append(f"(RESULT, 0, {little(count)}) : is_sized({40 + count});")
        lines.append(f"(CONTRIBUTION, 0, {little(count)}) : is_sized({32 + count // 2});")
        if count <= COUNT_MAX_WIDE:
            lines.append(f"(RESULT, 1, {little(count)}) : is_sized({40 + 2 * count});")
            lines.append(f"(CONTRIBUTION, 1, {little(count)}) : is_sized({32 + count // 2});")
    return lines


def members() -> list:
    """The contributors that a result of so many agents can have."""
    lines = []
    for agents in range(1, 65):
        others = (~((1 << agents) - 1) & (2 ** 64 - 1)).to_bytes(8, "little").hex()
        lines.append(f"({agents}, 0 &&& 0x{others[:8]}, 0 &&& 0x{others[8:]}) : NoAction();")
    return lines


def look_ups() -> list:
    """Byte i has the levels of values 2i (low) and 2i + 1 (high). Its table gives both their places."""
    lines = []
    for byte in range(BYTES):
        low = 0 if byte % 2 else 16
        lines += [f"action set_{byte}(bit<16> places) {{ hdr.sums.word{byte // 2}[{low + 15}:{low}] = places; }}",
                  f"table look_up_{byte} {{", "  key = {", "    hdr.bridge.entry : exact;",
                  f"    hdr.levels.byte{byte} : exact;", "  }", f"  actions = {{ set_{byte}; NoAction; }}",
                  "  const default_action = NoAction();", "  size = JOBS * 256;", "}"]
    return lines


def register_actions() -> list:
    lines = []
    for word in range(WORDS):
        for name, step in (("set", f"value = hdr.sums.word{word};"),
                           ("add", f"value = value + hdr.sums.word{word};"), ("read", "")):
            body = " ".join(filter(None, (step, "result = value;")))
            lines += [f"RegisterAction<bit<32>, bit<13>, bit<32>>(sums_{word}) {name}_sums_{word} = {{",
                      f"  void apply(inout bit<32> value, out bit<32> result) {{ {body} }}", "};"]
    return lines


def pieces() -> list:
    lines = []
    for word in range(WORDS):
        lines += [f"action do_{name}_{word}() {{ hdr.sums.word{word} = {name}_sums_{word}.execute(meta.at); }}"
                  for name in ("set", "add", "read")]
        lines += [f"table piece_{word} {{", "  key = { meta.sums : exact; }",
                  f"  actions = {{ do_set_{word}; do_add_{word}; do_read_{word}; NoAction; }}",
                  "  const default_action = NoAction();", "  const entries = {", f"    SET : do_set_{word}();",
                  f"    ADD : do_add_{word}();", f"    READ : do_read_{word}();", "  }", "}"]
    return lines


def program() -> str:
    parts = {"levels": [f"bit<8> byte{i};" for i in range(BYTES)],
             "sums": [f"bit<32> word{i};" for i in range(WORDS)], "known": known(), "sizes": sizes(),
             "members": members(), "look_ups": look_ups(), "register_actions": register_actions(),
             "agent_bits": [f"{agent} : set_mine(0x{1 << agent:x});" for agent in range(AGENTS_MAX)],
             "registers": [f"Register<bit<32>, bit<13>>(SLOTS * 2) sums_{i};" for i in range(WORDS)],
             "pieces": pieces(), "apply_look_ups": [f"look_up_{i}.apply();" for i in range(BYTES)],
             "apply_pieces": [f"piece_{i}.apply();" for i in range(WORDS)]}
    text = []
    for line in TEMPLATE.read_text(encoding="utf-8").splitlines():
        if line.startswith("//@ "):
            name = line[4:]
            text += [" " * INDENTS[name] + one for one in parts.pop(name)]
        else:
            text.append(line)
    if parts:
        raise ValueError(f"{TEMPLATE.name} has no line for {', '.join(parts)}")
    return f"// Written by {Path(__file__).name}.\n" + "\n".join(text) + "\n"


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().split("\n\n")[1])
    Path(sys.argv[1]).write_text(program(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
