#!/usr/bin/env python3
"""Every setting of the daemons and of a job is read: the member that a setting is bound to is mentioned in
shipped code beside its declaration and its binding.

The check compares names, as unused.py does: another member with that name hides an unread setting."""

import re
import unittest
from pathlib import Path
from typing import Iterator

import source_tree
import unused

ROOT = Path(__file__).resolve().parent.parent
BINDING = re.compile(r'settings\.(?:text|texts|flag|real|number)(?:<[^>]*>)?\(\s*(?:\w+ \+ )?"([a-z_.]+)",'
                     r'\s*([\w.]+)')


def unread(texts: dict) -> Iterator[str]:
    """`texts`: the shipped code, by path."""
    bound = [(path, *found) for path, text in texts.items() for found in BINDING.findall(text)]
    words = re.findall(r"[.>]?\b\w+", "\n".join(BINDING.sub("", text) for text in texts.values()))
    members = {word[1:] for word in words if not word[0].isalnum()}
    alone = {}
    for word in words:
        alone[word] = alone.get(word, 0) + 1
    for path, key, target in bound:
        name = target.split(".")[-1]
        # A member of the binding's own class is mentioned without an object: declared, and read.
        if name not in members and ("." in target or alone.get(name, 0) < 2):
            yield f"{path}: nothing reads {target}, to which the setting {key} is bound"


class SettingsRead(unittest.TestCase):
    def test_every_setting_is_read(self):
        texts = {path: (ROOT / path).read_text(encoding="utf-8")
                 for path in source_tree.code_files(ROOT) if unused.is_shipped(path)}
        self.assertGreater(sum(len(BINDING.findall(text)) for text in texts.values()), 100)
        self.assertEqual(list(unread(texts)), [])

    def test_an_unread_one_is_found(self):
        texts = {"a.h": "struct C { int x_ms = 1; int y_ms; }; class D { int z; };",
                 "a.cc": 'settings.number("x", config.x_ms, 1u);\nsettings.text(prefix + "y", config.y_ms);\n'
                         'settings.flag("z", z);'}
        self.assertEqual(len(list(unread(texts))), 3)
        texts["b.cc"] = "f(config->x_ms, config.y_ms, z);"
        self.assertEqual(list(unread(texts)), [])


if __name__ == "__main__":
    unittest.main()
