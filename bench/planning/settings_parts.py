"""The choice of the collective and fusion as parts of ./dev bench plan."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import choices
import fusion
from collectives import Failure
from rows import row
from store import Store

BENCH = Path(__file__).resolve().parent.parent
NEAR, NEAR_SHARE, FAR = 0.05, 50 / 54, 0.10
CHOICE_S = 27
# Rounds of a turn, and how long a case takes.
FUSION_ROUNDS = {"resnet20": 40, "deepgpt": 40, "chargpt": 20}
FUSION_CASE_S = {"resnet20": 95, "deepgpt": 100, "chargpt": 200}
LAYERWISE_MIN = 1.3


def called(command: list) -> str:
    """The output of a benchmark; its progress goes on."""
    done = subprocess.run([sys.executable, "-B", *command], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}")
    return done.stdout


def beyond_turns(setting: dict) -> float:
    """What the choice loses, as far as it exceeds the difference of repeated turns of one
    contender."""
    def spread(name: str) -> float:
        turns = setting["measured"][name]["turns_s"]
        return max(turns) / min(turns) - 1
    differs = max(spread(setting["choice"]), spread(setting["fastest"]))
    return setting["loss"] if setting["loss"] > differs else 0.0


class Choices:
    name = "choices"
    needs_root = True

    def __init__(self, options: argparse.Namespace, store: Store):
        self.options, self.store = options, store
        self.key = "choices"
        # A setting that is measured is in this file at once.
        self.kept = store.path.with_suffix(".choices.jsonl")
        if not (options.resume or options.estimate):
            self.kept.unlink(missing_ok=True)
        self.only = [choices.SETTINGS[0].name()] if options.short else []

    def estimate_s(self) -> float:
        return CHOICE_S * (len(self.only) or len(choices.SETTINGS))

    def measure(self) -> None:
        if self.store.get(self.key) is not None:
            return
        command = [BENCH / "choices.py", "--json", "--build", self.options.build, "--kept", self.kept,
                   "--lab", self.options.lab]
        for words in self.only:
            command += ["--only", words]
        self.store.put(self.key, json.loads(called([*command]))["data"]["rows"])

    def rows(self) -> list:
        found = self.store.get(self.key)
        near = far = None
        if found:
            losses = [beyond_turns(setting) for setting in found]
            near, far, count = sum(loss <= NEAR for loss in losses), sum(loss <= FAR for loss in losses), len(losses)
        return [
            row(self.name, "settings within 5 % of the fastest collective", f">= {NEAR_SHARE:.0%} (50 of 54)",
                found and f"{near} of {count}", found and near >= NEAR_SHARE * count),
            row(self.name, "settings within 10 %", "all", found and f"{far} of {count}", found and far == count)]


class Fusion:
    name = "fusion"
    needs_root = True

    def __init__(self, options: argparse.Namespace, store: Store):
        self.options, self.store = options, store
        cases = [(model, codec, mbit) for model, rates in fusion.RATES_MBIT.items() for mbit in rates
                 for codec in fusion.CODECS]
        self.cases = cases[:1] if options.short else cases

    def estimate_s(self) -> float:
        if self.options.short:
            return 60 * len(self.cases)
        return sum(FUSION_CASE_S[model] for model, _, _ in self.cases)

    @staticmethod
    def key(case: tuple) -> str:
        return "fusion/" + "/".join(map(str, case))

    def measure(self) -> None:
        for case in self.cases:
            if self.store.get(self.key(case)) is not None:
                continue
            model, codec, mbit = case
            command = [BENCH / "fusion.py", "--json", "--build", self.options.build, "--lab", self.options.lab,
                       "--model", model, "--codec", codec, "--mbit", str(mbit)]
            if self.options.short:
                command += ["--turns", "1", "--rounds", "16"]
            else:
                command += ["--rounds", str(FUSION_ROUNDS[model])]
            measured = json.loads(called(command))["data"]["cases"][0]
            self.store.put(self.key(case), measured)
            print(f"  {model}, {codec}, {mbit} Mbit/s: {measured['text']}", flush=True)

    def rows(self) -> list:
        found = [self.store.get(self.key(case)) for case in self.cases]
        known = [one for one in found if one is not None]
        whole = None not in found
        kept = sum(one["kept"] for one in known)
        # Where starting a group costs more than half of a layer-wise round.
        costly = [one for one in known if one["alpha_share"] is not None and one["alpha_share"] > 0.5]
        least = min((one["to_layerwise"] for one in costly), default=None)
        return [
            row(self.name, "cases within the spread of the best baseline", "all",
                f"{kept} of {len(known)}" if known else None, kept == len(known) if whole else None),
            row(self.name, "least speed-up on layer-wise where α is over half of it", f">= {LAYERWISE_MIN}",
                f"{least:.2f} ({len(costly)} cases)" if costly else ("no such case" if whole else None),
                least >= LAYERWISE_MIN if costly and whole else None)]
