"""The rows of bench/thin.py: a link, a model and a codec, and the bytes that a round needs with them."""

import array
import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from thin_lab import Failure, Link

# Numbers of values for the sizes in MB that rows name; other sizes are converted.
VALUES = {"0.26": 1 << 16, "0.52": 1 << 17, "1.0": 1 << 18, "4.2": 1 << 20, "16.8": 1 << 22}
BUCKET_VALUES = 1 << 20  # default of a job
# Rate in Mbit/s, model in MB, codec, then delay and loss of the agent's link.
TABLE = ["50/16.8/thc:bits=4", "10/16.8/thc:bits=4", "4/16.8/fp32", "4/4.2/fp32", "4/1.0/fp32",
         "2/1.0/thc:bits=4", "1/0.26/fp32", "0.3/0.26/fp32", "0.1/0.26/fp32", "0.5/1.0/thc:bits=4",
         "10/4.2/fp32/50ms", "10/4.2/fp32/300ms", "2/1.0/thc:bits=4/300ms", "1/0.26/fp32/300ms",
         "10/4.2/fp32/50ms/1%", "4/1.0/fp32/1%", "1/0.26/fp32/50ms/1%", "0.5/0.26/fp32/300ms/1%"]
SHORT = ["4/1.0/fp32", "1/0.52/fp32", "10/1.0/thc:bits=4/50ms/1%"]


class Row(NamedTuple):
    name: str
    link: Link
    values: int
    codec: str
    bytes_up: int = 0  # payload bytes of an update; sized() sets both fields
    bytes_down: int = 0

    def model_bytes(self) -> int:
        return 4 * self.values

    def first_bytes_s(self) -> float:
        return self.link.seconds(self.model_bytes() + self.bytes_up)

    def round_bytes_s(self) -> float:
        return self.link.seconds(self.bytes_up + self.bytes_down)

    def first_s_max(self) -> float:
        """Time limit for the first commit."""
        return 4 * self.first_bytes_s() + 30

    def rest_s_max(self, rounds: int) -> float:
        return 4 * rounds * self.round_bytes_s() + 30


def parse_row(text: str) -> Row:
    """Parses RATE/MB/CODEC[/DELAYms][/LOSS%], for example 4/1.0/fp32/50ms/1%."""
    words = text.split("/")
    try:
        mbit, size, codec = float(words[0]), words[1], words[2]
        values = VALUES.get(size) or round(float(size) * 1e6 / 4)
        delay_ms = sum(float(word[:-2]) for word in words[3:] if word.endswith("ms"))
        loss = sum(float(word[:-1]) for word in words[3:] if word.endswith("%"))
        odd = [word for word in words[3:] if not word.endswith(("ms", "%"))]
    except (IndexError, ValueError):
        odd, mbit, values = [text], 0.0, 0
    if odd or not codec_given(words) or not 0.008 <= mbit <= 1e6 or values < 1:
        raise Failure(f"row '{text}': expected RATE/MB/CODEC[/DELAYms][/LOSS%], with the rate in "
                      f"Mbit/s, as {TABLE[0]} or {TABLE[-1]}")
    return Row(text, Link(mbit, delay_ms, loss), values, codec)


def codec_given(words: list) -> bool:
    return len(words) > 2 and words[2] != ""


@functools.lru_cache(maxsize=None)
def payload_bytes(tributary: Path, codec: str, values: int) -> tuple:
    """Bytes of one agent's payload, up and down, including the payload's own header."""
    with tempfile.NamedTemporaryFile(prefix="tributary-thin-") as update:
        array.array("f", array.array("b", os.urandom(values))).tofile(update)
        update.flush()
        done = subprocess.run([str(tributary), "codec", "measure", "--codec", codec, "--in",
                               update.name, "--bucket-values", str(BUCKET_VALUES), "--json"],
                              capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"tributary codec measure --codec {codec}: "
                      f"{(done.stderr or done.stdout).strip()}")
    data = json.loads(done.stdout)["data"]
    return tuple(round(data[key] * values / 8) for key in ("bits_per_value_up",
                                                           "bits_per_value_down"))


def sized(arguments, text: str) -> Row:
    row = parse_row(text)
    up, down = payload_bytes(arguments.build / "cli/tributary", row.codec, row.values)
    return row._replace(bytes_up=up, bytes_down=down)
