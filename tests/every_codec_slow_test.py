#!/usr/bin/env python3
"""Every codec by every collective, with gradients and with deltas, in jobs of real processes that train.

usage: every_codec_slow_test.py [--all | --rest] [--codec NAME]... [--keep FOLDER]

The list of codecs is that of `tributary codec list`, so that a new one is covered without a change
here. One coordinator and three agents run all jobs, one after the other. For each job the test checks
that what was asked for happened (the facts of its rounds), that the replicas are identical, that nothing
of an update is lost, that its bytes are those that `tributary codec measure` predicts, and that it
learns. For each option of a codec it checks that some value changes a job, so an option that nothing
reads is found.

  --all     every combination; without it a fixed part that has every codec and every collective
  --rest    those that the fixed part leaves out
"""

import argparse
import array
import re
import resource
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator, NamedTuple

from federation import AGENT, LATE_S, TORCH, Processes, Refused, all_set, ask

AGENTS = 3
ROUNDS = 60
COLLECTIVES = ("star", "sharded_star", "ring", "tree", "halving_doubling", "all_gather")
# Small. Buckets of peers have 4096 values or more, and the model has several.
COMMON = {"model": "mlp:hidden=16,depth=1", "input": "1x28x28", "classes": 10, "bucket_values": 4096,
          "batch_size": 32, "seed": 7, "quorum": 1, "deadline_ms": 60000}
VALUES = 784 * 16 + 16 + 16 * 10 + 10
LAYERS = ("hidden:16x784", "hidden_bias:16", "output:10x16", "output_bias:10")
MODES = {"gradient": {"local_steps": 1, "learning_rate": 0.3},
         "delta": {"local_steps": 4, "learning_rate": 0.2}}
WINDOWS = (1, 16, 31, 46)  # first rounds of those whose updates `codec measure` is given
MEASURED_ROUNDS = 8  # the same update in each, so that a residual is there
ENVELOPE_BYTES = 32  # of a payload
BYTES_MAY_DIFFER = 0.03
LOSS_FALLS_TO = 0.9
OPTION_ROUNDS = 6
# Forms whose loss must fall to this share within the rounds of a job. In this job threelc:s=1.75,clip=0 ends at
# two thirds of the first loss, and fp32 at a third.
MUST_LEARN = ("threelc", "threelc:s=1.75")
LEARNT_LOSS_FALLS_TO = 0.5

# How far the bytes of a codec may be from those measured, where they follow from the values. `codec measure`
# is given updates of four times of the training, each by itself for eight rounds; a job's change from round
# to round.
ZEROS = "what can be compressed are mostly zeros, and the sum of several updates has fewer of them"
OVERLAP = "indices take as many bits as they are far apart, and results have those of all agents"
SIZE_FOLLOWS_VALUES = {
    "gcomp": (0.25, ZEROS), "threelc": (0.2, ZEROS), "zstd": (0.25, ZEROS), "zlib": (0.25, ZEROS),
    "topk": (0.08, OVERLAP), "mstopk": (0.08, OVERLAP), "dgc": (0.12, OVERLAP), "var_topk": (0.08, OVERLAP),
    "star_topk": (0.08, OVERLAP),
    "thc:rate=2": (0.08, "the widths of sums follow the norms of the blocks"),
    "threshold": (0.25, "the threshold is that of a sample, and a residual has other tails than an update"),
}

# One codec of each kind of sum: of floats, without decoding, of elements at common places, by power iteration,
# and of payloads side by side. Each option's jobs use the star as well.
TWICE = ("fp32", "thc", "threelc", "gcomp", "star_topk", "powersgd", "topk")

# Forms of a codec whose payloads have another structure. They are cases of --all and --rest.
FORMS = ("thc:rate=2",)
# Options that have an effect only beside another one.
BESIDE = {("thc", "down_weight"): "rate=2"}

# What does not hold, with the reason: (codec, collective, mode, check), "*" for any. Each is checked to be
# still so: an entry whose check passes in all of its jobs fails the test.
KNOWN = {
    ("signsgd", "*", "*", "loss"): "each value moves by `scale`, which is 1 unless a job sets it",
    ("dgc", "*", "*", "loss"): "its momentum of 0.9 makes steps ten times as long as the job's rate",
    ("randk", "*", "gradient", "loss"): "a round sends one value of a hundred, drawn at random",
}


class Case(NamedTuple):
    codec: str
    collective: str
    mode: str

    def name(self) -> str:
        return re.sub("[:=,]", "-", "-".join(self))

    def encodes_with(self, spec: str) -> bool:
        return self.codec in (spec, spec.split(":")[0])


def cases_of(codecs: list) -> list:
    return [Case(codec["name"], collective, mode) for codec in codecs for collective in COLLECTIVES
            for mode in MODES]


def fixed_part(codecs: list) -> list:
    """Those of TWICE by the star and by one collective among peers, every fourth of the others by the star and
    the rest by one among peers. Collectives take turns, and so do modes."""
    modes = list(MODES)
    part = []
    for i, codec in enumerate(codecs):
        twice = codec["name"] in TWICE
        if twice or i % 4 == 3:
            part.append(Case(codec["name"], "star", modes[i % 2]))
        if twice or i % 4 != 3:
            part.append(Case(codec["name"], COLLECTIVES[1 + i % 5], modes[(i + 1 + i // 5) % 2]))
    return part


class Federation(Processes):
    """A coordinator without a job, and agents that take whatever job comes."""

    def __init__(self, folder: str):
        super().__init__(folder)
        self.journal = self.folder / "run.db"
        ask("data", "make", "digits", "--out", self.folder / "digits", "--count", 1500, "--test-count", 60)
        self.coordinator, self.endpoint = self.start_coordinator(*all_set(
            f"journal.file={self.journal}", "journal.durability=stop", "link.encrypted=false", "probes.on=false"))
        for i in range(AGENTS):
            self.start(f"agent-{i}", AGENT, *all_set(
                f"agent_id=agent-{i}", f"journal.file={self.folder}/agent-{i}.db", "journal.durability=stop",
                "link.encrypted=false", f"link.coordinator={self.endpoint}",
                "peers.endpoint=tcp://127.0.0.1:0", "audit=true", "trainer.name=torch",
                "trainer.threads=1", f"trainer.library={TORCH}", f"data.path={self.folder}/digits",
                f"data.shard={i}", f"data.shards={AGENTS}", "data.evaluate=false"))

    def submit(self, name: str, keys: dict) -> int:
        """The number of the job."""
        file = self.folder / "job.toml"
        file.write_text("".join(f"{key} = {value!r}\n" for key, value in {"name": name, **keys}.items()),
                        encoding="utf-8")
        return ask("job", "submit", file, "--run", self.journal)["job"]

    def query(self, sql: str, *values) -> list:
        connection = sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True, timeout=10)
        try:
            # A job's number has 64 bits, and SQLite's are signed.
            return connection.execute(sql, [value - (1 << 64) if isinstance(value, int) and value >> 63
                                            else value for value in values]).fetchall()
        finally:
            connection.close()

    def wait_until(self, what: str, condition):
        late = time.monotonic() + LATE_S
        while not condition():
            if any(process.poll() is not None for process in self.processes):
                raise AssertionError(f"a process ended before {what}: {self.logs()}")
            if time.monotonic() > late:
                raise AssertionError(f"not within {LATE_S} s: {what}: {self.logs()}")
            time.sleep(0.02)

    def finish(self, name: str, keys: dict) -> tuple:
        """Submits a job and waits for its end: its number, and the hashes of the models at the agents."""
        logs = [len(self.log(f"agent-{i}")) for i in range(AGENTS)]
        number = self.submit(name, {**COMMON, "agents_min": AGENTS, **keys})
        agents = [i for i in range(AGENTS) if f"agent-{i}" in keys.get("agents", [f"agent-{i}"])]
        self.wait_until(f"the end of {name}", lambda: all(
            self.models_stored(i, logs[i], keys["rounds"]) for i in agents))
        return number, {self.models_stored(i, logs[i], keys["rounds"])[-1] for i in agents}

    def models_stored(self, agent: int, skip: int, version: int) -> list:
        """The hashes of the models of this version in the agent's log from this byte on."""
        return re.findall(rf"model stored .*model_version={version} model_hash=(\w+)",
                          self.log(f"agent-{agent}")[skip:])

    def updates_of(self, mode: str) -> list:
        """Files with updates as the agents train: for each window those of as many rounds as there are agents.
        With float32 by the star the stored payload is the sum of the agents' updates, of which each is much
        like it. The job is stopped, because its last commit would drop the payloads."""
        job = self.submit(f"updates-{mode}", {
            **COMMON, **MODES[mode], "mode": mode, "rounds": 100_000, "codec": "fp32", "agents_min": AGENTS,
            "checkpoint_rounds": 100_000, "checkpoint_redo_models": 1e6})
        self.wait_until(f"round {ROUNDS} of {mode}", lambda: self.query(
            "SELECT 1 FROM rounds WHERE job = ? AND round = ?", job, ROUNDS))
        ask("job", "stop", job, "--run", self.journal)
        return [[self.update_in(job, first + agent) for agent in range(AGENTS)] for first in WINDOWS]

    def update_in(self, job: int, number: int) -> Path:
        payloads = self.query(
            "SELECT data FROM redo JOIN rounds USING (round_row) JOIN blob_chunks ON blob = payload "
            "JOIN chunks USING (chunk) WHERE job = ? AND round = ? ORDER BY bucket, blob_chunks.place",
            job, number)
        values = array.array("f")
        for (payload,) in payloads:
            values.frombytes(payload[ENVELOPE_BYTES:])
        if len(values) != VALUES:
            raise AssertionError(f"expected an update of {VALUES} values, found {len(values)}")
        file = self.folder / f"update-{job}-{number}.f32"
        file.write_bytes(values.tobytes())
        return file


class Range(NamedTuple):
    """What a number of bytes must be, without the tolerance."""
    low: float
    high: float

    def off(self, found: float) -> float:
        """How far it is outside, as a share."""
        return min(0.0, found / self.low - 1) or max(0.0, found / self.high - 1)


class Predictions:
    """The bytes of a round as `codec measure` says, for the updates of this model and these agents."""

    def __init__(self, federation: Federation):
        self.updates = {mode: federation.updates_of(mode) for mode in MODES}
        self.measured = {}

    def stages(self, case: Case, codec: dict, buckets: int) -> list:
        key = (case.codec, case.mode, buckets)
        if key not in self.measured:
            measured = []
            for updates in self.updates[case.mode]:
                files = [word for file in updates for word in ("--in", file)]
                if codec["whole_layers"]:
                    files += [word for layer in LAYERS for word in ("--layer", layer)]
                measured.append(ask("codec", "measure", "--codec", case.codec, *files, "--rounds",
                                    MEASURED_ROUNDS, "--bucket-values",
                                    -(-VALUES // buckets))["bytes_by_stage"])
            self.measured[key] = [{way: sum(one[way] for one in stage) / len(stage)
                                   for way in ("up", "down")} for stage in zip(*measured)]
        return self.measured[key]

    def of(self, case: Case, codec: dict, buckets: int) -> dict:
        """Payload bytes of one round: of all agents' uplinks, and of their downlinks.

        By the star, all payloads go up and the combined ones come down to each. Among peers a payload that
        can be added to others is sent once by all but the owner, and so is the result; a partial sum may be
        as wide as the result. Other payloads go from each to each. One member sends the results to the
        coordinator."""
        low, high, results = 0.0, 0.0, 0.0
        up = down = 0.0
        for number, (stage, size) in enumerate(zip(codec["stages"], self.stages(case, codec, buckets))):
            sent, combined = size["up"] * buckets, size["down"] * buckets
            up += sent if stage["combine"] == "broadcast" else AGENTS * sent
            down += AGENTS * combined
            last = number == len(codec["stages"]) - 1
            adds = stage["combine"] in ("max", "sum") or last and codec["aggregation"] == "reduce"
            if stage["combine"] == "broadcast":
                partial, others, result = 0, (AGENTS - 1) * sent, combined
            elif adds and case.collective != "all_gather":
                partial, others, result = AGENTS - 2, sent + (AGENTS - 1) * combined, combined
            else:
                partial, others = 0, AGENTS * (AGENTS - 1) * sent
                result = combined if stage["combine"] in ("max", "sum") else AGENTS * sent
            low += others + partial * min(sent, combined)
            high += others + partial * max(sent, combined)
            results += result
        if case.collective == "star":
            return {"up": Range(up, up), "down": Range(down, down)}
        return {"up": Range(low + results, high + results), "down": Range(low, high)}


class Job:
    """A job that has ended, and the checks of it. Each returns what is wrong, or nothing."""

    def __init__(self, federation: Federation, case: Case, codec: dict):
        self.case, self.codec, self.federation = case, codec, federation
        self.number, self.hashes = federation.finish(case.name(), {
            **MODES[case.mode], "mode": case.mode, "rounds": ROUNDS, "codec": case.codec,
            "collective": case.collective})
        self.shown = ask("job", "show", self.number, "--round", ROUNDS // 2, "--run", federation.journal)
        self.rounds = federation.query(
            "SELECT round, attempt, buckets, bytes_up, bytes_down FROM rounds WHERE job = ? ORDER BY round",
            self.number)
        # An agent reports the bytes of a round with the next one.
        self.reports = federation.query(
            "SELECT round, count(*), avg(loss), sum(bytes_up), sum(bytes_down) FROM agent_rounds "
            "WHERE job = ? GROUP BY round ORDER BY round", self.number)

    # The checks.

    def happened(self) -> Iterator[str]:
        if [row[0] for row in self.rounds] != list(range(1, ROUNDS + 1)):
            yield f"committed rounds {[row[0] for row in self.rounds]}"
        buckets = self.rounds[0][2]
        facts = self.shown["mechanisms"]
        expected = {"quorum": AGENTS, "asked": AGENTS, "contributors": AGENTS, "exchanges": 1, "fallbacks": 0,
                    "attempts_failed": 0, "buckets_by_collective": {self.case.collective: buckets}}
        for name, value in expected.items():
            if facts["coordinator"].get(name) != value:
                yield f"{name}: expected {value}, found {facts['coordinator'].get(name)}"
        if facts["coordinator"].get("left_out"):
            yield f"left out: {facts['coordinator']['left_out']}"
        if len(facts["agents"]) != AGENTS:
            yield f"facts of {list(facts['agents'])}"
        for agent, one in facts["agents"].items():
            used = one.get("buckets_by_codec", {})
            if [*map(self.case.encodes_with, used)] != [True] or set(used.values()) != {buckets}:
                yield f"{agent} encoded {used}, expected {buckets} buckets of {self.case.codec}"
            if one["values_encoded"] != VALUES or one["encode_threads"] < 1:
                yield f"{agent}: {one}"

    def replicas(self) -> Iterator[str]:
        if self.hashes != {self.shown["last_round"]["model_hash"]}:
            yield f"{self.hashes} at the agents, {self.shown['last_round']['model_hash']} at the coordinator"

    def conservation(self) -> Iterator[str]:
        errors = self.federation.query(
            "SELECT agent_id, max(value) FROM metrics WHERE job = ? AND name = 'conservation_error' "
            "GROUP BY agent_id", self.number)
        if len(errors) != (AGENTS if self.codec["conserves"] else 0):
            yield f"accounts of {[agent for agent, _ in errors]}"
        for agent, error in errors:
            if not error <= 1:
                yield f"{agent}: {error} of what rounding explains"

    def bytes(self, predictions: Predictions) -> Iterator[str]:
        predicted = predictions.of(self.case, self.codec, self.rounds[0][2])
        may_differ, _ = SIZE_FOLLOWS_VALUES.get(self.case.codec, (BYTES_MAY_DIFFER, ""))
        for way, found in self.bytes_found().items():
            off = predicted[way].off(found)
            if abs(off) > may_differ:
                yield (f"{way}: {found:.0f} bytes a round, {100 * off:+.1f} % from "
                       f"{predicted[way].low:.0f} to {predicted[way].high:.0f}")

    def bytes_found(self) -> dict:
        rows, ways = self.rounds, {"up": 3, "down": 4}
        if self.case.collective != "star":
            rows = [row for row in self.reports if row[0] > 1 and row[1] == AGENTS]
        return {way: sum(row[column] for row in rows) / len(rows) for way, column in ways.items()}

    def loss(self, falls_to: float = LOSS_FALLS_TO) -> Iterator[str]:
        losses = [row[2] for row in self.reports]
        first, last = losses[0], sum(losses[-3:]) / 3  # each of one batch an agent, or some
        if not last < falls_to * first:
            yield f"{first:.3f} before, {last:.3f} after {ROUNDS} rounds: {last / first:.2f}"

    def failures(self, predictions: Predictions) -> dict:
        """What is wrong, by check."""
        checks = {"happened": self.happened(), "replicas": self.replicas(),
                  "conservation": self.conservation(), "bytes": self.bytes(predictions), "loss": self.loss()}
        found = {name: list(check) for name, check in checks.items()}
        return {name: failures for name, failures in found.items() if failures}


class Options:
    """Jobs of one agent that differ in one option of their codec. The order of several agents, and so the
    rounding of their sum, follows from their arrival."""

    def __init__(self, federation: Federation, codecs: dict):
        self.federation, self.jobs = federation, 0
        self.stages = {name: len(codec["stages"]) for name, codec in codecs.items()}

    def outcome(self, codec: str) -> tuple:
        """What the option of a codec could change: the model, and the bytes without the specs, which stand in
        each payload, filled up to a multiple of 8."""
        self.jobs += 1
        number, hashes = self.federation.finish(f"option-{self.jobs}", {
            **MODES["delta"], "mode": "delta", "rounds": OPTION_ROUNDS, "codec": codec,
            "agents": ["agent-0"], "agents_min": 1})
        stages = self.stages[codec.split(":")[0]]
        return hashes, [[sent - buckets * stages * (-(-len(spec) // 8) * 8) for sent in (up, down)]
                        for up, down, buckets, spec in self.federation.query(
                            "SELECT bytes_up, bytes_down, buckets, codecs FROM rounds JOIN plans USING (round_row) "
                            "WHERE job = ? ORDER BY round", number)]

    def without_effect(self, codec: dict) -> Iterator[str]:
        if not codec["parameters"]:
            return
        usual = self.outcome(codec["name"])
        if self.outcome(codec["name"]) != usual:
            yield f"{codec['name']}: two jobs that are the same differ"
        for parameter in codec["parameters"]:
            tried = []
            beside = BESIDE.get((codec["name"], parameter["name"]))
            before = self.outcome(f"{codec['name']}:{beside}") if beside else usual
            for value in other_values(parameter):
                options = ",".join(filter(None, (beside, f"{parameter['name']}={value}")))
                tried.append(f"{codec['name']}:{options}")
                try:
                    if self.outcome(tried[-1]) != before:
                        break
                except Refused:  # not beside the other options' defaults
                    continue
            else:
                yield f"{codec['name']}: no value of {parameter['name']} changes a job: {', '.join(tried)}"


def other_values(parameter: dict) -> Iterator:
    """Values of a codec's option that are not its default, those first that probably have an effect."""
    usual = parameter["default"]
    if parameter["kind"] == "choice":
        yield from (choice for choice in parameter["choices"] if choice != usual)
        return
    whole = parameter["kind"] != "real"
    for value in (usual / 16, usual / 4, usual / 2, usual * 2, 64, usual + 1, parameter["min"],
                  parameter["max"]):
        value = int(value) if whole else value
        if value != usual and parameter["min"] <= value <= parameter["max"]:
            yield value


def entry_for(case: Case, check: str):
    """The entry of KNOWN for this failure, or None."""
    for entry in KNOWN:
        if all(part in ("*", own) for part, own in zip(entry, (*case, check))):
            return entry
    return None


def run(cases: list, codecs: dict, options_of: list, folder: str) -> int:
    unknown, seen, jobs, refused = [], set(), {}, {}
    with Federation(folder) as federation:
        predictions = Predictions(federation)
        for number, case in enumerate(cases, 1):
            began_s = time.monotonic()
            try:
                jobs[case] = Job(federation, case, codecs[case.codec])
            except Refused as error:
                refused[case] = {"refused": [str(error).strip()]}
            print(f"{number}/{len(cases)} {case.name()}: {time.monotonic() - began_s:.1f} s", flush=True)
        for spec in MUST_LEARN:
            name = spec.split(":")[0]
            if name in options_of:
                job = Job(federation, Case(spec, "star", "delta"), codecs[name])
                unknown += [f"{spec}: {text}" for text in job.loss(LEARNT_LOSS_FALLS_TO)]
                print(f"{spec}: has trained", flush=True)
        options = Options(federation, codecs)
        for name in options_of:
            unknown += options.without_effect(codecs[name])
            print(f"options of {name}", flush=True)
        federation.stop()  # what is measured is in the journal once in a while, and at the end
        for case in cases:
            failures = refused.get(case) or jobs[case].failures(predictions)
            for check, texts in failures.items():
                entry = entry_for(case, check)
                seen.add(entry)
                text = f"{case.name()}: {check}: {'; '.join(texts)}"
                if entry is None:
                    unknown.append(text)
                else:
                    print(f"known: {text} ({KNOWN[entry]})")
        for i in range(AGENTS):
            if "conservation violated" in federation.log(f"agent-{i}"):
                unknown.append(f"agent-{i}: conservation violated")
    stale = [entry for entry in KNOWN if entry not in seen and any(
        all(part in ("*", own) for part, own in zip(entry[:3], case)) for case in cases)]
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"{len(cases)} jobs and {options.jobs} of options, {sum(one.ru_utime + one.ru_stime for one in used):.0f} s of one core")
    for failure in unknown:
        print(f"failed: {failure}")
    for entry in stale:
        print(f"failed: {entry} is no failure any more; remove it from KNOWN")
    return 1 if unknown or stale else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true")
    which.add_argument("--rest", action="store_true")
    parser.add_argument("--codec", action="append", help="only this one")
    parser.add_argument("--keep", metavar="FOLDER", help="an empty folder for the files, which stay")
    options = parser.parse_args()
    if not TORCH.exists():
        print("this build has no trainer: it needs libtorch-dev")
        return 77
    codecs = ask("codec", "list")["codecs"]
    part = fixed_part(codecs)
    codecs += [{**codec, "name": form} for form in FORMS for codec in codecs
               if codec["name"] == form.split(":")[0]]
    cases = cases_of(codecs) if options.all or options.rest else part
    if options.rest:
        cases = [case for case in cases if case not in part]
    if options.codec:
        cases = [case for case in cases if case.codec in options.codec]
    by_name = {codec["name"]: codec for codec in codecs}
    options_of = [] if options.rest else [name for name in options.codec or by_name if name not in FORMS]
    if options.keep:
        return run(cases, by_name, options_of, options.keep)
    with tempfile.TemporaryDirectory(prefix="tributary-codecs-") as folder:
        return run(cases, by_name, options_of, folder)


if __name__ == "__main__":
    sys.exit(main())
