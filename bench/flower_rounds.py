#!/usr/bin/env python3
"""Rounds of Flower's legacy server with clients that return their model at once, for comparison.

measure() starts the server and the clients as processes of their own; as a program this file is one
of them. Flower is no package of Debian. It is looked for in this Python and in build/flower:

    python3 -m venv build/flower && build/flower/bin/pip install flwr
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from typing import Optional

PYTHONS = [sys.executable, "build/flower/bin/python3"]
MISSING = ("Python has no package flwr; python3 -m venv build/flower && build/flower/bin/pip install flwr "
           "installs it for this comparison alone")
PORT = 18640
START_S_MAX = 300


def python() -> Optional[str]:
    """A Python that has Flower."""
    return next((one for one in PYTHONS if os.access(one, os.X_OK) and subprocess.run(
        [one, "-c", "import flwr.server"], capture_output=True, check=False).returncode == 0), None)


def measure(flower: str, agents: int, values: int, rounds: int, inside=lambda node: [],
            address: str = "127.0.0.1") -> dict:
    """Median seconds of a round, and the server's peak memory. `inside` gives the words with which a
    program runs in a node of a lab: node 0 for the server at `address`, then one for each client."""
    def start(node: int, *words: str):
        return subprocess.Popen(
            [*inside(node), flower, "-B", os.path.abspath(__file__), "--address", f"{address}:{PORT}",
             "--values", str(values), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, FLWR_TELEMETRY_ENABLED="0"))

    server = start(0, "--serve", str(agents), "--rounds", str(rounds))
    clients = [start(1 + i) for i in range(agents)]
    try:
        out, errors = server.communicate(timeout=START_S_MAX + 30 * rounds)
    except subprocess.TimeoutExpired:
        return {"failed": f"no end after {START_S_MAX + 30 * rounds} s"}
    finally:
        for one in (server, *clients):
            one.kill()
            one.communicate()
    if server.returncode != 0:
        return {"failed": (errors.strip().splitlines() or [f"exit status {server.returncode}"])[-1]}
    return json.loads(out.splitlines()[-1])


def client(address: str, values: int):
    import flwr
    import numpy

    class Client(flwr.client.NumPyClient):
        update = [numpy.zeros(values, numpy.float32)]

        def get_parameters(self, config):
            return self.update

        def fit(self, parameters, config):
            return self.update, 1, {}

    flwr.client.start_client(server_address=address, client=Client().to_client(),
                             grpc_max_message_length=1 << 30)


def serve(address: str, agents: int, rounds: int):
    import flwr

    times = []

    class Strategy(flwr.server.strategy.FedAvg):
        def aggregate_fit(self, server_round, results, failures):
            aggregated = super().aggregate_fit(server_round, results, failures)
            times.append(time.monotonic())
            return aggregated

    flwr.server.start_server(
        server_address=address, config=flwr.server.ServerConfig(num_rounds=rounds + 1),
        grpc_max_message_length=1 << 30,
        strategy=Strategy(min_fit_clients=agents, min_available_clients=agents, fraction_evaluate=0))
    print(json.dumps({
        "version": flwr.__version__,
        "median_s": statistics.median(b - a for a, b in zip(times, times[1:])),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", required=True)
    parser.add_argument("--values", type=int, required=True)
    parser.add_argument("--serve", type=int, metavar="AGENTS", help="be the server of so many clients")
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    if options.serve:
        serve(options.address, options.serve, options.rounds)
    else:
        client(options.address, options.values)


if __name__ == "__main__":
    main()
