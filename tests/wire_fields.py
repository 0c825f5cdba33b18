"""Fields of the messages that no shipped code reads, or that none writes.

The check compares names, as unused.py does. Another identifier with the name of an unused field hides
it, but every reported field is unused. The checks of values (schemas/check_*.cc) are no readers.
"""

import re
from pathlib import Path
from typing import Iterator, NamedTuple

import unused

SCHEMAS = Path("schemas")
STORED = {"policy.fbs"}  # a record and no message: one list of fields reads and writes it
# Facts of a round: readers list all fields by flatc's description, so that only a writer can lack.
COUNTED = {"mechanisms.fbs"}
CHECKS = "check_"
COMMENT = re.compile(r"//[^\n]*")
TABLE = re.compile(r"^(?:table|struct) (\w+) \{([^}]*)\}", re.MULTILINE)
FIELD = re.compile(r"(\w+)\s*:\s*([^;]+);")

# Why a field stays although nothing reads it, or nothing writes it.
CHECKED = "its value is checked on arrival; the builds that are to send it come later"
NOT_SENT = "no build sends events yet; their checks are there"
LAST = "the only field of its table: flatc's code for a table without fields does not compile"
KEPT = {
    "Ack.duplicate": LAST,
    "Aggregate.contributor_bits": CHECKED,
    "Event.measures": NOT_SENT,
    "Event.severity": NOT_SENT,
    "Exchange.order": CHECKED,
    "Exchange.root": CHECKED,
    "Update.contributor_bits": CHECKED,
}


class Field(NamedTuple):
    table: str
    name: str
    path: Path
    is_read: bool
    is_written: bool

    def full_name(self) -> str:
        return f"{self.table}.{self.name}"


def find(root: Path, sources: list) -> list:
    """The fields that are not both read and written, in the order of the schemas."""
    declared = list(_declared(root))
    names = {name for _, name, _ in declared}
    reads, writes = set(), set()
    for source in sources:
        if not unused.is_shipped(source.path):
            continue
        if source.path.parts[0] == str(SCHEMAS) and source.path.name.startswith(CHECKS):
            continue
        _mentions(source.tokens, names, reads, writes)
        reads |= names & source.unread_words
        writes |= names & source.unread_words
    fields = (Field(table, name, path, name in reads or path.name in COUNTED, name in writes)
              for table, name, path in declared)
    return [field for field in fields if not (field.is_read and field.is_written)]


def _declared(root: Path) -> Iterator[tuple]:
    for path in sorted((root / SCHEMAS).glob("*.fbs")):
        if path.name in STORED:
            continue
        text = COMMENT.sub("", path.read_text(encoding="utf-8"))
        for table in TABLE.finditer(text):
            for name, kind in FIELD.findall(table.group(2)):
                if "deprecated" not in kind:
                    yield table.group(1), name, path.relative_to(root)


def _mentions(tokens: list, names: set, reads: set, writes: set):
    """A field is read by its accessor, x.name() or x->name(), which takes nothing; or as a member of
    the object API. A member is written where it stands before '=', and perhaps elsewhere."""
    for at, token in enumerate(tokens):
        if token not in names or at == 0 or tokens[at - 1] not in {".", "->"}:
            continue
        after = tokens[at + 1:at + 3]
        if after[:1] == ["("]:
            if after == ["(", ")"]:
                reads.add(token)
        elif after[:1] == ["="] and after != ["=", "="]:
            writes.add(token)
        else:
            reads.add(token)
            writes.add(token)


def listing(found: list) -> Iterator[str]:
    yield f"{len(found)} fields of the messages are not both read and written:"
    for field in found:
        what = "written, not read" if field.is_written else "read, not written"
        if not field.is_read and not field.is_written:
            what = "neither read nor written"
        kept = KEPT.get(field.full_name())
        yield f"  {field.path}: {field.full_name()}: {what}" + (f" ({kept})" if kept else "")


def complaints(found: list, kept: dict) -> Iterator[str]:
    """Of fields that nothing reads, and facts that nothing counts. Other fields may have a reader before
    their writer, which is of another build."""
    unread = {field.full_name(): field for field in found
              if not field.is_read or field.path.name in COUNTED}
    for name, field in unread.items():
        if name in kept:
            continue
        if field.path.name in COUNTED:
            yield f"{field.path}:1: no code counts {name}; count it where the thing happens"
        else:
            yield (f"{field.path}:1: no code reads {name}; mark it (deprecated), or say in "
                   "tests/wire_fields.py why it stays")
    for name in kept:
        if name not in unread:
            yield f"tests/wire_fields.py:1: {name} is used or gone; remove its entry"
