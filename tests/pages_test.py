#!/usr/bin/env python3
"""The pages: links to headings lead somewhere, each page says at its beginning what it is for, the index
of docs/ names every page, and no sentence begins with a relative clause that has no noun."""

import re
import tempfile
import unittest
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
OTHERS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "changes").glob("*.md"))]

HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]*)#([^)\s]+)\)")
# "Of all sessions, ...", "What is kept is ...": a sentence, a list item, a heading or a table's cell.
RELATIVE_START = re.compile(
    r"(?:^|[.:;!?] |\| |^[-*] |^\d+\. |^#+ )"
    r"\*{0,2}((?:Of|Who|Whoever|Whatever|What|That which|By what|By which) .{0,40})", re.MULTILINE)


def without_blocks(text: str) -> str:
    """Indented blocks of code become empty lines."""
    return "\n".join("" if line.startswith("    ") else line for line in text.split("\n"))


def prose(text: str) -> str:
    """Without code: each code span becomes one word."""
    return re.sub(r"`[^`\n]*`", "x", without_blocks(text))


def headings(text: str) -> set:
    """The names by which a link reaches the headings of a page, as GitHub makes them."""
    names = set()
    for title in HEADING.findall(without_blocks(text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        names.add(re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-"))
    return names


def broken_anchors(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    for target, anchor in LINK.findall(text):
        if "://" in target:
            continue
        other = (page.parent / target).resolve() if target else page
        if other.suffix == ".md" and other.is_file() \
                and anchor not in headings(other.read_text(encoding="utf-8")):
            yield f"{page.name}: no heading #{anchor} in {other.name}"


def relative_starts(text: str) -> list:
    return [found.strip() for found in RELATIVE_START.findall(prose(text))]


class Pages(unittest.TestCase):
    def test_links_to_headings(self):
        self.assertEqual([each for page in PAGES + OTHERS for each in broken_anchors(page)], [])

    def test_each_page_begins_with_its_use(self):
        for page in PAGES:
            with self.subTest(page.name):
                first = page.read_text(encoding="utf-8").split("\n\n")[1]
                self.assertTrue(first.startswith("After reading this page you "), first)

    def test_the_index_names_every_page(self):
        index = ROOT / "docs" / "README.md"
        text = index.read_text(encoding="utf-8")
        missing = [page.name for page in PAGES
                   if page != index and f"({page.relative_to(ROOT / 'docs')}" not in text]
        self.assertEqual(missing, [])

    def test_the_papers_page_names_tests_and_files_that_exist(self):
        text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
        sources = "".join(path.read_text(encoding="utf-8") for folder in ("core", "tests", "bench")
                          for path in (ROOT / folder).rglob("*_test.cc"))
        defined = {".".join(names) for names in
                   re.findall(r"^TEST(?:_[FP])?\((\w+),\s+(\w+)\)", sources, re.MULTILINE)}
        cited = set(re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", text))
        self.assertGreater(len(cited), 10, "the page is read wrongly")
        self.assertEqual(cited - defined, set())
        files = [target for target in re.findall(r"\]\((\.\./[^)#]+)", text)]
        self.assertEqual([target for target in files if not (ROOT / "docs" / target).exists()], [])

    def test_sentences_begin_with_their_subject(self):
        for page in PAGES + OTHERS:
            with self.subTest(page.name):
                self.assertEqual(relative_starts(page.read_text(encoding="utf-8")), [])


class Rules(unittest.TestCase):
    def test_headings_as_links_name_them(self):
        text = "# The `codec` list\n\n    # no heading\n\n## [A](b.md), and b's c\n"
        self.assertEqual(headings(text), {"the-codec-list", "a-and-bs-c"})

    def test_links_to_headings_that_are_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "a.md"
            page.write_text("# A\n\n[a](#a) [b](#b) [c](https://x/y.md#z)\n", encoding="utf-8")
            self.assertEqual(list(broken_anchors(page)), ["a.md: no heading #b in a.md"])

    def test_relative_starts_are_found(self):
        self.assertEqual(relative_starts("Of all sessions, these are shown."),
                         ["Of all sessions, these are shown."])
        self.assertEqual(relative_starts("It ends. Who has a link keeps all."),
                         ["Who has a link keeps all."])
        self.assertEqual(relative_starts("- What is kept\n\n| a | Whoever asks |\n\n# What it is\n"),
                         ["What is kept", "Whoever asks |", "What it is"])

    def test_other_sentences_are_not(self):
        self.assertEqual(relative_starts("The sum of all. Offline. Whole models of n.\n"), [])
        self.assertEqual(relative_starts("    Of code\n\nSay `Of this` or `. What `.\n"), [])


if __name__ == "__main__":
    unittest.main()
