#!/usr/bin/env python3
"""How bench/daemon_rounds.py reads its command line, and the limits beside its rounds."""

import argparse
import contextlib
import io
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import daemon_rounds  # noqa: E402


class CommandLine(unittest.TestCase):
    def test_sizes(self):
        for text, value in (("64", 64), ("4Ki", 4096), ("4Mi", 4 << 20), ("1Gi", 1 << 30)):
            self.assertEqual(daemon_rounds.size(text), value)
        for text in ("", "0", "-1", "4x", "4MiB", "1.5Mi"):
            with self.subTest(text), self.assertRaisesRegex(argparse.ArgumentTypeError, "such as 64, 512Ki"):
                daemon_rounds.size(text)

    def test_wrong_words(self):
        for words in (["--params", "4x"], ["--agents", "0"], ["--link", "wifi"], ["--durability", "never"]):
            with self.subTest(words), contextlib.redirect_stderr(io.StringIO()), \
                    self.assertRaises(SystemExit):
                daemon_rounds.parse(words)

    def test_a_folder_without_daemons(self):
        with tempfile.TemporaryDirectory() as folder, \
                self.assertRaisesRegex(SystemExit, "./dev bench rounds builds them, or name a build"):
            daemon_rounds.find_build(folder)

    def test_what_links_change(self):
        options = daemon_rounds.parse(["--rounds", "40"])
        options.build = "build"
        of = {link: daemon_rounds.options_of(options, link) for link in daemon_rounds.LINKS}
        self.assertEqual((of["disk"].curve, of["disk"].durability, of["disk"].folder), (True, "round", "build"))
        self.assertEqual((of["loopback"].curve, of["loopback"].rounds, of["100mbit"].rounds), (False, 40, 15))


class Limits(unittest.TestCase):
    RESULT = {"link": "loopback", "codec": "fp32", "median_s": 0.1,
              "coordinator": {"disk_bytes": 6e6}, "agent": {"disk_bytes": 1e6},
              "reports": {"bytes_up": 10e6, "bytes_down": 15e6, "compute_s": 0.5}}
    RATES = {"encryption": 1e9, "disk": 100e6}

    def limit(self, plain=None, words=(), rates=None, **changes):
        return daemon_rounds.limit_s(self.RESULT | changes, daemon_rounds.parse(list(words)), plain,
                                     rates or self.RATES)

    def test_links_with_a_rate_count_payloads_and_training(self):
        self.assertEqual(self.limit(link="100mbit"), 2.5)
        self.assertEqual(self.limit(link="1gbit"), 0.7)

    def test_goals_are_for_the_usual_size(self):
        self.assertEqual(self.limit(), 0.16)
        self.assertIsNone(self.limit(words=["--params", "1Mi"]))
        self.assertIsNone(self.limit(codec="int8"))

    def test_the_disk_writes_while_links_encrypt(self):
        # 100 MB through one thread, or 200 MB through all cores; 10 MB for the disk.
        for cores, seconds in ((1, 0.3), (64, 0.2)):
            with unittest.mock.patch("os.cpu_count", return_value=cores):
                self.assertAlmostEqual(self.limit(plain=self.RESULT, link="disk"), seconds)
        slow = {"encryption": 1e9, "disk": 1e6}
        self.assertAlmostEqual(self.limit(plain=self.RESULT, link="disk", rates=slow), 10)
        self.assertIsNone(self.limit(link="disk"))
        self.assertIsNone(self.limit(plain=self.RESULT, link="disk", rates={"encryption": None, "disk": 1}))

    def test_peaks_leave_out_the_trainer_and_the_window(self):
        result = {"coordinator": {"peak_bytes": 450e6 + 1.5 * 17 * (1 << 20)}, "agent": {"peak_bytes": 550e6},
                  "reports": {"bytes_up": 100e6}}
        options = daemon_rounds.parse(["--params", "25000000"])
        self.assertEqual(daemon_rounds.peaks_in_models(result, options), (4.5, 4.5))
        # All payloads together can be smaller than the window.
        small = dict(result, reports={"bytes_up": 0})
        self.assertGreater(daemon_rounds.peaks_in_models(small, options)[0], 4.7)


if __name__ == "__main__":
    unittest.main()
