#!/usr/bin/env python3
"""The dashboard beside a demonstration, from its first round to its end, on a display of its own.

Starts Xvfb and `tributary demo` on it, which opens the dashboard; at three moments presses the keys
of a page and takes a picture of the screen, as a person would see it; and reads on the way from
/proc what the dashboard takes of a core and of memory. Ends with Ctrl-C's signal to the dashboard,
which outlives the demonstration.

    python3 -B bench/dashboard/live.py --build build/release --out /tmp/live

Needs Xvfb, and libX11 and libXtst, which come with it.
"""

import argparse
import ctypes
import json
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

SIZE = (1280, 800)
LOOK_EVERY_S = 0.5
PATIENCE_S = 600
# share of rounds, key of the page, name of the picture
MOMENTS = [(0.3, "1", "begin"), (0.7, "3", "middle"), (1.0, "4", "end")]


def png(width: int, height: int, rgb: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    lines = b"".join(b"\0" + rgb[3 * width * y:3 * width * (y + 1)] for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


class Screen:
    """An X server in memory that keeps its screen in a file (xwd format)."""

    def __init__(self, folder: Path):
        self.file = folder / "Xvfb_screen0"
        display, other_end = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(other_end), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24",
             "-fbdir", str(folder), "-nolisten", "tcp"],
            pass_fds=[other_end], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(other_end)
        with os.fdopen(display) as numbers:
            self.name = ":" + numbers.readline().strip()
        if self.name == ":":
            raise SystemExit("Xvfb has not started")
        x11 = ctypes.CDLL("libX11.so.6")
        x11.XOpenDisplay.restype = ctypes.c_void_p
        x11.XDefaultRootWindow.restype = x11.XStringToKeysym.restype = ctypes.c_ulong
        self.x11, self.xtst = x11, ctypes.CDLL("libXtst.so.6")
        self.connection = ctypes.c_void_p(x11.XOpenDisplay(self.name.encode()))

    def give_focus(self) -> None:
        """Gives the focus to the only window: there is no window manager here."""
        window, count = ctypes.c_ulong(), ctypes.c_uint()
        children = ctypes.POINTER(ctypes.c_ulong)()
        root = ctypes.c_ulong(self.x11.XDefaultRootWindow(self.connection))
        self.x11.XQueryTree(self.connection, root, ctypes.byref(window), ctypes.byref(window),
                            ctypes.byref(children), ctypes.byref(count))
        for child in children[:count.value]:
            about = ctypes.create_string_buffer(256)  # XWindowAttributes
            self.x11.XGetWindowAttributes(self.connection, ctypes.c_ulong(child), about)
            width, state = struct.unpack_from("i", about, 8)[0], struct.unpack_from("i", about, 92)[0]
            if state == 2 and width >= SIZE[0] // 2:  # IsViewable
                self.x11.XSetInputFocus(self.connection, ctypes.c_ulong(child), 2, ctypes.c_ulong(0))
        self.x11.XSync(self.connection, 0)

    def press(self, *keys: str) -> None:
        self.give_focus()
        time.sleep(0.2)
        codes = []
        for key in keys:
            symbol = self.x11.XStringToKeysym(key.encode())
            codes.append(self.x11.XKeysymToKeycode(self.connection, ctypes.c_ulong(symbol)))
        for code in codes:
            self.xtst.XTestFakeKeyEvent(self.connection, code, 1, ctypes.c_ulong(0))
        for code in reversed(codes):
            self.xtst.XTestFakeKeyEvent(self.connection, code, 0, ctypes.c_ulong(0))
        self.x11.XSync(self.connection, 0)

    def picture(self) -> bytes:
        data = self.file.read_bytes()
        head = struct.unpack(">25I", data[:100])
        head_bytes, width, height, line_bytes, colours = head[0], head[4], head[5], head[12], head[19]
        pixels = data[head_bytes + 12 * colours:]
        rgb = bytearray(3 * width * height)
        for y in range(height):
            line = pixels[y * line_bytes:y * line_bytes + 4 * width]
            for part in range(3):  # bytes are in the order blue, green, red
                rgb[3 * width * y + part:3 * width * (y + 1):3] = line[2 - part::4]
        return png(width, height, bytes(rgb))

    def close(self) -> None:
        self.server.terminate()
        self.server.wait()


class Dashboard:
    """The dashboard process that a demonstration has opened."""

    def __init__(self, run_file: Path):
        self.pid = self.find(run_file)
        self.began = time.monotonic(), self.cpu_s()
        self.memory_mib = []

    @staticmethod
    def find(run_file: Path) -> int:
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = process.read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"tributary-dashboard") and bytes(run_file) in words:
                return int(process.parent.name)
        raise LookupError

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        self.memory_mib.append(pages * os.sysconf("SC_PAGESIZE") / 2**20)

    def share(self) -> float:
        return (self.cpu_s() - self.began[1]) / (time.monotonic() - self.began[0])


def rounds_in(run_file: Path) -> int:
    try:
        with sqlite3.connect(f"file:{run_file}?mode=ro", uri=True) as run:
            return run.execute("SELECT count(*) FROM rounds").fetchone()[0]
    except sqlite3.Error:
        return 0


def until(what: str, condition, give_up=lambda: False):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and not give_up():
        found = condition()
        if found:
            return found
        time.sleep(LOOK_EVERY_S)
    raise SystemExit(f"no {what}")


def find_dashboard(run_file: Path):
    try:
        return Dashboard(run_file)
    except LookupError:
        return None


def watch(screen: Screen, demo: subprocess.Popen, run_file: Path, arguments) -> dict:
    dashboard = until("dashboard", lambda: find_dashboard(run_file),
                      lambda: demo.poll() is not None)
    try:
        for share, page, name in MOMENTS:
            def reached():
                dashboard.look()
                ended = demo.poll() is not None
                return ended if share == 1 else rounds_in(run_file) >= share * arguments.rounds
            until(f"round for the picture '{name}'", reached)
            screen.press("Alt_L", page)
            time.sleep(2)
            (arguments.out / f"live-{name}.png").write_bytes(screen.picture())
        return {"rounds": rounds_in(run_file), "seconds": time.monotonic() - dashboard.began[0],
                "cpu_share": dashboard.share(), "memory_mib_max": max(dashboard.memory_mib),
                "memory_mib_last": dashboard.memory_mib[-1], "demo": demo.returncode}
    finally:
        os.kill(dashboard.pid, signal.SIGTERM)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--out", type=Path, required=True, help="a folder for the pictures")
    parser.add_argument("--rounds", type=int, default=120)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    folder = arguments.out.resolve() / "demo"
    screen = Screen(arguments.out.resolve())
    environment = dict(os.environ, DISPLAY=screen.name, XDG_CONFIG_HOME=str(arguments.out.resolve()))
    environment.pop("WAYLAND_DISPLAY", None)
    environment.pop("QT_QPA_PLATFORM", None)
    demo = subprocess.Popen(
        [str(arguments.build / "cli" / "tributary"), "demo", "--dashboard", "--out", str(folder),
         "--rounds", str(arguments.rounds)],
        env=environment, stdout=subprocess.DEVNULL)
    try:
        print(json.dumps(watch(screen, demo, folder / "run.db", arguments), indent=2))
    finally:
        if demo.poll() is None:
            demo.send_signal(signal.SIGINT)
            demo.wait()
        screen.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
