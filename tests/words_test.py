#!/usr/bin/env python3
"""The check of words finds old terms, comments without a subject, and headers without a comment."""

import json
import tempfile
import unittest
from pathlib import Path

import words


class Words(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "tests").mkdir()
        (self.root / "core/net").mkdir(parents=True)

    def write(self, text: str, name: str = "x.h"):
        (self.root / "core/net" / name).write_text(text, encoding="utf-8")

    def allow(self, **left):
        (self.root / words.LEFT).write_text(json.dumps(left), encoding="utf-8")

    def complaints(self) -> list:
        return list(words.complaints(self.root))

    def test_terms_are_parts_of_identifiers(self):
        self.assertEqual(list(words.terms("class WatchDesk; int told_at_ns; carry_out(room_);")),
                         ["WatchDesk", "told_at_ns", "carry_out", "room_"])

    def test_other_words_and_texts_are_none(self):
        self.assertEqual(list(words.terms('int foretold, mushroom, talkie; // told\n "told"')), [])

    def test_published_names_stay(self):
        self.assertEqual(list(words.terms("tributary_peer_link_figures_told")), [])

    def test_a_comment_without_a_subject(self):
        text = "// Of all sessions, the oldest.\nint a;  // Who asks.\nint b;  // The owner\n"
        self.assertEqual(list(words.comments(text)), ["Of all sessions, the oldest.", "Who asks."])

    def test_a_sentence_within_a_comment(self):
        text = "// The limit is per link. What is\n// above it waits.\n"
        self.assertEqual(list(words.comments(text)), ["What is above it waits."])

    def test_questions_and_texts_are_no_comments(self):
        self.assertEqual(list(words.comments('f("// Of all");  // Reads the file.\n')), [])

    def test_a_folder_keeps_to_its_figure(self):
        self.write("// The desk.\nclass Desk;\n")
        self.allow()
        self.assertIn("core/net: 1 identifiers with an old term", self.complaints()[0])
        self.allow(terms={"core/net": 1})
        self.assertEqual(self.complaints(), [])

    def test_a_figure_that_has_fallen_is_lowered(self):
        self.write("// A context.\nclass Context;\n")
        self.allow(terms={"core/net": 1}, comments={}, headers={})
        self.assertIn("lower it", self.complaints()[0])
        words.record(self.root)
        self.assertEqual(self.complaints(), [])

    def test_recording_raises_nothing(self):
        self.write("// A context.\nclass Desk;\nclass Shelf;\n")
        self.allow(terms={"core/net": 1}, comments={}, headers={})
        words.record(self.root)
        self.assertIn("allows 1", self.complaints()[0])

    def test_a_header_begins_with_a_comment(self):
        self.write("#pragma once\n")
        self.allow()
        self.assertIn("1 headers that do not begin with a comment", self.complaints()[0])

    def test_the_listing_names_each(self):
        self.write("// Of it, all.\nclass Desk;\n")
        self.assertEqual(list(words.listing(self.root, "core")),
                         ["core/net/x.h: identifier Desk (1)",
                          'core/net/x.h: comment "Of it, all."'])


if __name__ == "__main__":
    unittest.main()
