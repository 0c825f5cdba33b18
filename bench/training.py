"""Real daemons that train one job to its end on this machine, and what their journal has of it:
for measurements of codecs in training."""

import os
import sqlite3
import subprocess
import sys

from daemons import Federation
from lab_nodes import Failure


def command_of(build):
    """The program `tributary` of a build; without it this program ends."""
    program = os.path.join(build, "cli", "tributary")
    if not os.access(program, os.X_OK):
        sys.exit(f"training: no program {program}; ./dev build --preset release builds it, or name another build "
                 "with --build")
    return program


def make_data(build, folder, making):
    """Returns the path of a data set; `making` has the arguments of `tributary data make`."""
    data = os.path.join(folder, "data")
    subprocess.run([command_of(build), "data", "make", *making, "--out", data],
                   check=True, stdout=subprocess.DEVNULL)
    return data


def train(build, folder, data, job, agents, lab=None, common=()):
    """Runs one federation until its job is done, with settings of the job in `job`. Every round
    waits for all agents. Returns the coordinator's journal. Ends the program if a process fails or
    an agent was left out of a round. `lab` is the name of a lab that is up: the coordinator runs in
    its node 0 and the agents in the next ones, else all on this machine's own network."""
    def inside(node):
        return [] if lab is None else [os.path.join(build, "cli", "tributary"), "lab", "exec",
                                       "--name", lab, "--node", str(node), "--"]

    def address_of(node):
        return "127.0.0.1" if lab is None else f"10.77.0.{node + 1}"

    # A loaded machine must not leave an agent out.
    job = [*job, f"agents_min={agents}", "quorum=1", "deadline_ms=600000",
           "preliminary_deadline_ms=300000"]
    try:
        with Federation(
                build, folder, ["link.encrypted=false", "journal.durability=stop", *common],
                [f"evaluation.path={data}", "evaluation.threads=1", *(f"job.{pair}" for pair in job)],
                [["trainer.name=torch", "trainer.threads=1", f"data.path={data}", f"data.shard={i}",
                  f"data.shards={agents}", "data.evaluate=false",
                  f"peers.endpoint=tcp://{address_of(1 + i)}:0"] for i in range(agents)],
                inside=inside, address=address_of(0)) as federation:
            federation.wait_for_end()
            journal = federation.journal
    except Failure as failure:
        sys.exit(f"training: {failure}")
    least = ask(journal, "SELECT min(contributors) FROM contributor_sets")
    if least != agents:
        sys.exit(f"training: a round had {least} contributors instead of {agents}")
    return journal


def ask(journal, query):
    """The first column of the first row."""
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as run:
        row = run.execute(query).fetchone()
    return None if row is None else row[0]


def bytes_of_agent(journal):
    """Mean bytes of an agent in a round, up and down. A report holds the bytes of the round
    before."""
    return [ask(journal, f"SELECT avg(bytes_{way}) FROM agent_rounds WHERE round > 1")
            for way in ("up", "down")]


def last_metric(journal, name):
    """That of the last model, on the test set; None if the task has none of that name."""
    return ask(journal, f"SELECT value FROM metrics WHERE name = 'evaluation_{name}' "
                        "ORDER BY round DESC LIMIT 1")
