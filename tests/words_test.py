#!/usr/bin/env python3
"""The check of words finds old terms, comments without a subject, and headers without a comment."""

import unittest

import words
from tree_testing import TreeTest


class Words(TreeTest):
    def setUp(self):
        super().setUp()
        (self.root / "core/net").mkdir(parents=True)

    def write(self, text: str, name: str = "x.h"):
        (self.root / "core/net" / name).write_text(text, encoding="utf-8")

    def complaints(self) -> list:
        return list(words.complaints(self.root))

    def test_terms_are_parts_of_identifiers(self):
        self.assertEqual(list(words.terms("class WatchDesk; int told_at_ns; carry_out(room_);")),
                         ["WatchDesk", "told_at_ns", "carry_out", "room_"])

    def test_some_names_are_old_only_as_a_whole(self):
        self.assertEqual(list(words.terms("auto said = f(); came_ = g(); int came_in; WhatIsSaid();")),
                         ["said", "came_"])
        self.assertEqual(list(words.terms("LinkEstimate star_line(); Wherever x;")), ["star_line"])

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

    def test_a_clause_after_a_colon(self):
        text = "// Each in its own time: whoever is done goes on.\n// The parts: what they cost.\n"
        self.assertEqual(list(words.comments(text)), ["whoever is done goes on. The parts: what they cost."])

    def test_questions_and_texts_are_no_comments(self):
        self.assertEqual(list(words.comments('f("// Of all");  // Reads the file.\n')), [])

    def test_an_old_term_is_named_with_its_replacement(self):
        self.write("// The desk.\nclass Desk;\n")
        self.assertEqual(self.complaints(), ["core/net/x.h:2: identifier Desk has an old term; "
                                             "write context, service or planner"])

    def test_a_comment_is_named(self):
        self.write("// Of it, all.\nclass Context;\n")
        self.assertEqual(self.complaints(), ['core/net/x.h: comment "Of it, all." begins with a '
                                             'relative clause; begin with the noun'])

    def test_a_clean_tree(self):
        self.write("// A context.\nclass Context;\n")
        self.assertEqual(self.complaints(), [])

    def test_a_header_begins_with_a_comment(self):
        self.write("#pragma once\n")
        self.assertIn("core/net/x.h:1: does not begin with a comment", self.complaints()[0])

    def test_only_the_folder_is_listed(self):
        self.write("// The desk.\nclass Desk;\n")
        self.assertEqual(list(words.complaints(self.root, "core/plan")), [])
        self.assertEqual(len(list(words.complaints(self.root, "core/net"))), 1)


if __name__ == "__main__":
    unittest.main()
