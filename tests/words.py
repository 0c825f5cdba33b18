"""Words that a reader of the field does not know, and comments that do not say what they are about.

terms() finds identifiers with a word of OLD_TERMS or a phrase of OLD_PHRASES, and whole OLD_NAMES. comments()
finds sentences in comments that begin with a relative clause without a noun ("Of all sessions, ..."). has_contract()
is whether a header begins with a comment. The tree has none of the first two, and every header has the third.
"""

import re
from pathlib import Path
from typing import Iterator

import source_tree

# Part of an identifier -> the term of the field that replaces it.
OLD_TERMS = {
    "desk": "context, service or planner",
    "shelf": "cache",
    "chronicle": "telemetry buffer",
    "rim": "host",
    "room": "context of the simulation, or free space",
    "talk": "session or conversation",
    "told": "reported, sent or notified",
    "tell": "report, send or notify",
    "tells": "reports",
    "brought": "received",
    "wants": "requires or requests",
    "serves": "is assigned, handles or belongs to",
    "apart": "separate, distance or interval",
    "nobody": "none",
    "somebody": "any",
    "tidings": "report",
    "wanted": "requested, expected or required",
    "heard": "received, measured or observed",
}
OLD_PHRASES = {"look_around": "run_periodic_tasks", "look_after": "maintain or run_periodic_tasks",
               "carry_out": "execute or apply", "carries_out": "executes or applies",
               "star_line": "star_link", "lines_differ": "links_differ", "agent_line": "agent_link",
               "sender_has_line": "sender_is_shaped", "line_free_at": "link_free_at",
               "contributors_said": "contributors_stated", "said_bytes": "payload_bytes",
               "follow_way": "follow_direction", "of_way": "the type of what it holds for a direction"}
# Whole identifiers, with or without a final underscore. A verb or a relative pronoun says nothing about a value.
OLD_NAMES = {"said": "answer, message, output or report", "says": "body or answer", "asks": "body or question",
             "came": "event, received or arrived", "whom": "the type of the receiver", "those": "a noun",
             "who": "agent, observer or subject", "whose": "owner or subject", "mine": "own", "way": "direction or link",
             "ways": "links or directions"}
# Names that are published (metrics, settings, columns, wire fields) or are somebody else's.
PUBLISHED = {"tributary_peer_link_figures_told", "repeated_up_no_room_bytes", "setDesktopFileName",
             "desktop", "gain_wanted"}

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(//[^\n]*)')
# A comment, a sentence within one, or a clause after a colon or a semicolon, that begins so.
RELATIVE = re.compile(r"(?:^|[.;:] )(?:Of|Who|Whoever|Whatever|What|That which|By what|By which|By whom|Whom|Whose"
                      r"|Nobody|Somebody|Everybody) [a-z]"
                      r"|[;:] (?:who|whoever|whatever|whom|by whom|nobody|somebody|everybody) [a-z]")


def code_without_comments(text: str) -> str:
    return COMMENT.sub(" ", text)


def replacements(name: str) -> list:
    """The terms to use instead of the old ones in the identifier; empty if it has none or is published."""
    if name in PUBLISHED:
        return []
    parts = [part.lower() for part in PART.findall(name)]
    phrase = f"_{'_'.join(parts)}_"
    bare = name.rstrip("_")
    return [OLD_TERMS[part] for part in parts if part in OLD_TERMS] + \
        ([OLD_NAMES[bare]] if bare in OLD_NAMES else []) + \
        [term for old, term in OLD_PHRASES.items() if f"_{old}_" in phrase]


def advice(name: str) -> str:
    return " and ".join(replacements(name))


def terms(text: str) -> Iterator[str]:
    """Each identifier that has an old term in it, once for each place where it stands."""
    for found in WORD.finditer(code_without_comments(text)):
        if replacements(found.group(0)):
            yield found.group(0)


def comment_blocks(text: str) -> Iterator[str]:
    """Comments as one line each: neighbouring lines that hold nothing else belong together."""
    block = []
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith("//"):
            block.append(bare.lstrip("/").strip())
            continue
        if block:
            yield " ".join(block)
            block = []
        trailing = [found.group(1) for found in COMMENT.finditer(line) if found.group(1)]
        if trailing:
            yield trailing[0].lstrip("/").strip()
    if block:
        yield " ".join(block)


def comments(text: str) -> Iterator[str]:
    for block in comment_blocks(text):
        for found in RELATIVE.finditer(block):
            yield block[found.start():found.start() + 60].lstrip(".;: ")


def has_contract(text: str) -> bool:
    """A header begins with a comment, before anything else."""
    return text.startswith("//")


def complaints(root: Path, folder: str = "") -> Iterator[str]:
    """Each place below the folder that breaks a rule, with what to write instead."""
    for path in source_tree.code_files(root):
        if source_tree.is_generated(path) or not str(path).startswith(folder):
            continue
        text = (root / path).read_text(encoding="utf-8")
        for number, line in enumerate(text.split("\n"), 1):
            for name in terms(line):
                yield f"{path}:{number}: identifier {name} has an old term; write {advice(name)}"
        for sentence in comments(text):
            yield f"{path}: comment \"{sentence}\" begins with a relative clause; begin with the noun"
        if path.suffix == ".h" and not has_contract(text):
            yield f"{path}:1: does not begin with a comment; say what the header is for, and its contract"
