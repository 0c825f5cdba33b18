"""Words that a reader of the field does not know, and comments that do not say what they are about.

terms() finds identifiers with a word of OLD_TERMS. comments() finds sentences in comments that begin with a
relative clause without a noun ("Of all sessions, ..."). headers_without_contract() finds public headers that do
not begin with a comment. words_left.json says how many of each a folder may still have: the figures only fall.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Iterator

import source_tree

LEFT = Path("tests/words_left.json")

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
    "serves": "assign_job",
    "apart": "why_peers_unreachable",
    "nobody": "none",
    "somebody": "any",
    "tidings": "report",
}
OLD_PHRASES = {"look_around": "run_periodic_tasks", "look_after": "maintain or run_periodic_tasks",
               "carry_out": "perform", "carries_out": "performs"}
# Names that are published (metrics, settings, columns, wire fields) or are somebody else's.
PUBLISHED = {"tributary_peer_link_figures_told", "setDesktopFileName", "desktop"}

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(//[^\n]*)')
# A comment, or a sentence within one, that begins so.
RELATIVE = re.compile(r"(?:^|[.;:] )(?:Of|Who|Whoever|Whatever|What|That which|By what|By which|Whose) [a-z]")


def code_without_comments(text: str) -> str:
    return COMMENT.sub(" ", text)


def terms(text: str) -> Iterator[str]:
    """Each identifier that has an old term in it, once for each place where it stands."""
    for found in WORD.finditer(code_without_comments(text)):
        name = found.group(0)
        if name in PUBLISHED:
            continue
        parts = [part.lower() for part in PART.findall(name)]
        phrase = "_".join(parts)
        if any(part in OLD_TERMS for part in parts) or \
                any(f"_{old}_" in f"_{phrase}_" for old in OLD_PHRASES):
            yield name


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


def counts(root: Path) -> dict:
    """By rule and folder: how often the folder breaks it. A folder is the first two parts of a path."""
    found = {"terms": Counter(), "comments": Counter(), "headers": Counter()}
    for path in source_tree.code_files(root):
        if source_tree.is_generated(path):
            continue
        text = (root / path).read_text(encoding="utf-8")
        folder = "/".join(path.parts[:-1][:2]) or "."
        found["terms"][folder] += sum(1 for _ in terms(text))
        found["comments"][folder] += sum(1 for _ in comments(text))
        if path.suffix == ".h" and not has_contract(text):
            found["headers"][folder] += 1
    return {rule: {folder: count for folder, count in sorted(by_folder.items()) if count}
            for rule, by_folder in found.items()}


def left(root: Path) -> dict:
    file = root / LEFT
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


ADVICE = {
    "terms": "identifiers with an old term; tests/words.py names the term that replaces each",
    "comments": "comments with a sentence that begins with a relative clause; begin with the noun",
    "headers": "headers that do not begin with a comment; say what the header is for, and its contract",
}


def complaints(root: Path) -> Iterator[str]:
    """Nothing for a tree without words_left.json."""
    if not (root / LEFT).is_file():
        return
    now, known = counts(root), left(root)
    for rule, advice in ADVICE.items():
        for folder in sorted(now[rule].keys() | known.get(rule, {}).keys()):
            count, allowed = now[rule].get(folder, 0), known.get(rule, {}).get(folder, 0)
            if count > allowed:
                yield f"{folder}: {count} {advice} ({LEFT} allows {allowed}); " \
                      f"list them with tests/tidy.py --words {folder}"
            elif count < allowed:
                yield f"{folder}: {count} {advice}, {LEFT} allows {allowed}: lower it with " \
                      "tests/tidy.py --words-left"


def listing(root: Path, folder: str) -> Iterator[str]:
    for path in source_tree.code_files(root):
        if source_tree.is_generated(path) or not str(path).startswith(folder):
            continue
        text = (root / path).read_text(encoding="utf-8")
        for name, count in sorted(Counter(terms(text)).items()):
            yield f"{path}: identifier {name} ({count})"
        for sentence in comments(text):
            yield f"{path}: comment \"{sentence}\""
        if path.suffix == ".h" and not has_contract(text):
            yield f"{path}: no comment at its head"


def record(root: Path) -> None:
    """Writes the figures of today. A figure that has grown stays as it was, and complaints() names it."""
    now, known = counts(root), left(root)
    lowered = {rule: {folder: min(count, known[rule].get(folder, 0)) if rule in known else count
                      for folder, count in by_folder.items()}
               for rule, by_folder in now.items()}
    lowered = {rule: {folder: count for folder, count in by_folder.items() if count}
               for rule, by_folder in lowered.items()}
    (root / LEFT).write_text(json.dumps(lowered, indent=2) + "\n", encoding="utf-8")
