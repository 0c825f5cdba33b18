#!/usr/bin/env python3
"""How bench/thin.py reads rows and counters, and that each of its criteria can be missed."""

import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import thin  # noqa: E402
import thin_criteria  # noqa: E402
import thin_lab  # noqa: E402
import thin_rows  # noqa: E402

SS = ("ESTAB 0 0 10.77.0.2:40512 10.77.0.1:4640 bbr wscale:9,9 rto:201 rtt:0.9/0.4 bytes_sent:1200 "
      "bytes_retrans:200 bytes_acked:1001 bytes_received:5000 segs_out:30 segs_in:40 "
      "data_segs_out:10 data_segs_in:25 send 1Mbps\n")


class Rows(unittest.TestCase):
    def test_all_of_the_table_are_read(self):
        for text in thin_rows.TABLE + thin_rows.SHORT + [thin.RESUME, thin.SOAK]:
            self.assertIn(thin_rows.parse_row(text).codec, ("fp32", "thc:bits=4"), text)

    def test_delay_and_loss(self):
        row = thin_rows.parse_row("10/4.2/thc:bits=4/50ms/1%")
        self.assertEqual(row.link, thin_lab.Link(10, 50, 1))
        self.assertEqual((row.values, row.codec), (1 << 20, "thc:bits=4"))
        self.assertEqual(row.link.option(1), ["--node", "1:rate=10mbit,delay=50ms,loss=1%"])
        self.assertEqual(row.link.round_trip_s(), 0.1)

    def test_other_sizes_are_megabytes(self):
        self.assertEqual(thin_rows.parse_row("4/2/fp32").values, 500_000)

    def test_times_of_the_bytes_alone(self):
        row = thin_rows.parse_row("4/2/fp32")._replace(bytes_up=500_000, bytes_down=250_000)
        self.assertEqual((row.first_bytes_s(), row.round_bytes_s()), (5, 1.5))
        self.assertEqual((row.first_s_max(), row.rest_s_max(4)), (50, 54))

    def test_what_is_no_row(self):
        for text in ("", "4/1.0", "4/1.0/", "x/1.0/fp32", "0/1.0/fp32", "4/0/fp32", "4/1.0/fp32/50"):
            with self.subTest(text), self.assertRaisesRegex(thin_lab.Failure, "expected RATE/MB/CODEC"):
                thin_rows.parse_row(text)


class CommandLine(unittest.TestCase):
    def test_parts_exclude_one_another(self):
        for words in (["--short", "--resume"], ["--short", "--rows", "4/1.0/fp32"], ["--fast"],
                      ["--other", "x"], ["--soak", "0"], ["--resume", "--rows", "a", "b"]):
            with self.subTest(words), contextlib.redirect_stderr(io.StringIO()), \
                    self.assertRaises(SystemExit):
                thin.parse(words)


class Counting(unittest.TestCase):
    def test_sockets(self):
        connections = thin_lab.parse_sockets(SS)
        self.assertEqual(list(connections), ["10.77.0.2:40512"])
        self.assertEqual(thin_lab.stream_counters(connections), (5000, 1000, 15, 20))

    def test_interface(self):
        lines = "Inter-| x\n    lo: 1 1 0 0 0 0 0 0 1 1\n  eth0: 100 2 0 0 0 0 0 0 300 4 0 0\n"
        self.assertEqual(thin_lab.interface_counters(lines), (100, 300, 2, 4))

    def test_notes(self):
        metrics = thin_lab.parse_metrics('# HELP x\ntributary_notes_total{name="session_lost",'
                                         'reason="silent"} 2\ntributary_notes_total{name="x"} 5\n')
        self.assertEqual(thin_lab.noted(metrics, "session_lost"), 2)

    def test_round_trips_between_two_looks(self):
        trips = thin_lab.Trips()
        for count, sum_s in ((1, 0.5), (1, 0.5), (3, 4.5)):
            trips.look({"tributary_round_trips_total": count, "tributary_round_trip_seconds_total": sum_s})
        self.assertEqual(trips.seconds, [0.5, 2, 2])


def outcome(**changes) -> thin_criteria.Outcome:
    good = thin_criteria.Outcome(
        row="4/1.0/fp32", mbit=4, model_bytes=1000, codec="fp32", delay_ms=0, loss_percent=0,
        commits=thin_criteria.ROUNDS, ended=True, first_s=1.1, first_bytes_s=1, round_s=1.1, round_bytes_s=1,
        needed_in=100_000, needed_out=100_000,
        counters=thin_lab.Counters(ethernet_in=107_000, ethernet_out=107_000), heartbeats=3,
        heartbeat_s_median=0.1, heartbeat_s_max=0.2, sessions_lost=0, watched_s=9)
    return good._replace(**changes)


class Criteria(unittest.TestCase):
    def missed(self, **changes) -> list:
        return [one.what for one in thin_criteria.missed(thin_criteria.criteria(outcome(**changes)))]

    def test_all_are_met(self):
        self.assertEqual(self.missed(), [])
        self.assertIn("met", thin_criteria.verdict_text(outcome()))

    def test_each_can_be_missed(self):
        more = thin_lab.Counters(ethernet_in=109_000, ethernet_out=107_000)
        self.assertEqual(self.missed(first_s=1.2), ["first commit"])
        self.assertEqual(self.missed(round_s=1.2), ["round"])
        self.assertEqual(self.missed(counters=more), ["received"])
        self.assertEqual(self.missed(counters=more._replace(ethernet_in=0, ethernet_out=109_000)),
                         ["sent"])
        self.assertEqual(self.missed(heartbeat_s_max=1.0), ["slowest heartbeat"])
        self.assertEqual(self.missed(heartbeat_s_max=None), ["heartbeats"])
        self.assertEqual(self.missed(sessions_lost=1), ["sessions lost"])
        self.assertEqual(self.missed(ended=False), ["commits"])
        self.assertEqual(self.missed(first_s=None, round_s=None), ["first commit", "round"])

    def test_links_that_are_allowed_more(self):
        self.assertEqual(self.missed(first_s=1.4, delay_ms=50), [])
        self.assertEqual(self.missed(first_s=2.1, mbit=0.5), [])
        self.assertEqual(self.missed(heartbeat_s_max=3, mbit=0.3), [])
        self.assertEqual(self.missed(heartbeat_s_max=None, watched_s=2), [])
        self.assertEqual(self.missed(counters=thin_lab.Counters(ethernet_in=119_000), loss_percent=1), [])

    def test_acknowledgements_do_not_count(self):
        self.assertEqual(self.missed(counters=thin_lab.Counters(ethernet_out=173_000,
                                                            ack_frames_out=1000)), [])

    def test_the_short_form_fails_on_bytes_alone(self):
        self.assertTrue(thin_criteria.bytes_met(outcome(first_s=9, round_s=9, heartbeat_s_max=9,
                                               sessions_lost=1)))
        self.assertFalse(thin_criteria.bytes_met(outcome(counters=thin_lab.Counters(ethernet_out=109_000))))
        self.assertFalse(thin_criteria.bytes_met(outcome(ended=False)))


if __name__ == "__main__":
    unittest.main()
