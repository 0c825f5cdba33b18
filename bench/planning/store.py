"""Results of a long measurement in a file, so that one that was stopped goes on."""

import json
import os
import time
from pathlib import Path
from typing import Any


class Store:
    """Values by key, one JSON object a line. A value that was put is in the file at once."""

    def __init__(self, path: Path, resume: bool):
        self.path = path
        self.values = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if not resume:
            path.unlink(missing_ok=True)
            return
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        # The program may have been stopped while it wrote the last line.
        whole = text[:text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        for line in whole.splitlines():
            row = json.loads(line)
            self.values[row["key"]] = row["value"]

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def put(self, key: str, value: Any) -> Any:
        self.values[key] = value
        row = {"key": key, "value": value, "at": round(time.time()), "load": os.getloadavg()[0]}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return value
