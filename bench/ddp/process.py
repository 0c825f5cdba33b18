#!/usr/bin/env python3
"""One process of PyTorch's DistributedDataParallel over gloo, for bench/ddp/compare.py. It trains the
TorchScript model of the job on its share of the same pictures, and prints one JSON object. With
--write-model it writes that model instead. Needs Debian's python3-torch, and nothing of Tributary."""

import argparse
import json
import os
import resource
import statistics
import struct
import time

import torch
import torch.distributed as distributed
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

SEED = 1
LOCAL_STEPS = 8  # without communication, for the time of forward and backward
POWERSGD_RANK = 4
POWERSGD_STARTS = 2  # the steps before are all-reduced whole


class Convnet(nn.Module):
    """For pictures of 28 x 28; nearly all of its values are those of the first linear layer."""

    def __init__(self, hidden: int):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(64 * 7 * 7, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, x):
        return self.layers(x)


def write_model(path: str, hidden: int) -> None:
    torch.manual_seed(SEED)
    torch.jit.script(Convnet(hidden)).save(path)


def read_idx(path: str) -> torch.Tensor:
    with open(path, "rb") as file:
        data = bytearray(file.read())
    dims = struct.unpack_from(f">{data[3]}I", data, 4)
    return torch.frombuffer(data, dtype=torch.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def read_data(folder: str, rank: int, size: int) -> tuple:
    """The pictures of this process, with values from 0 to 1, and their labels."""
    pictures = read_idx(os.path.join(folder, "train-images-idx3-ubyte"))[rank::size]
    labels = read_idx(os.path.join(folder, "train-labels-idx1-ubyte"))[rank::size]
    return pictures.unsqueeze(1).float() / 255, labels.long()


def sent_bytes() -> int:
    """Of the network interface, with headers."""
    with open("/sys/class/net/eth0/statistics/tx_bytes", encoding="ascii") as file:
        return int(file.read())


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def add_hook(model: DistributedDataParallel, hook: str) -> None:
    if hook == "fp16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif hook == "powersgd":
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=POWERSGD_RANK,
                                            start_powerSGD_iter=POWERSGD_STARTS)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


def reduced_bytes(shapes: list, hook: str) -> int:
    """Bytes of what is all-reduced in one step. PowerSGD replaces each matrix that this makes half
    as large by two factors."""
    values = 0
    for shape in shapes:
        rows, columns = shape[0], torch.Size(shape[1:]).numel()
        factors = (rows + columns) * POWERSGD_RANK
        small = hook == "powersgd" and len(shape) > 1 and 2 * factors < rows * columns
        values += factors if small else rows * columns
    return values * (2 if hook == "fp16" else 4)


def train(arguments) -> dict:
    torch.set_num_threads(1)
    if arguments.hook == "powersgd":  # with several buckets this hook can hang over gloo
        distributed._DEFAULT_FIRST_BUCKET_BYTES = 1 << 30
    distributed.init_process_group("gloo", rank=arguments.rank, world_size=arguments.size)
    pictures, labels = read_data(arguments.data, arguments.rank, arguments.size)
    module = torch.jit.load(arguments.model)
    shapes = [list(p.shape) for p in module.parameters()]
    model = DistributedDataParallel(module, bucket_cap_mb=1024 if arguments.hook == "powersgd" else 25)
    add_hook(model, arguments.hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=arguments.learning_rate, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(SEED + arguments.rank))
    position = 0

    def backward() -> float:
        nonlocal position
        chosen = order[torch.arange(position, position + arguments.batch) % len(order)]
        position += arguments.batch
        loss = loss_of(model(pictures[chosen]), labels[chosen])
        loss.backward()
        return loss.item()

    def step() -> float:
        optimizer.zero_grad(set_to_none=False)
        loss = backward()
        optimizer.step()
        return loss

    for _ in range(arguments.warm):
        step()
    local = []
    distributed.barrier()
    with model.no_sync():
        for _ in range(LOCAL_STEPS):
            begin = time.monotonic()
            backward()
            local.append(time.monotonic() - begin)
    distributed.barrier()
    times, losses = [], []
    sent, cpu, measured_s = sent_bytes(), cpu_s(), [time.monotonic()]
    for _ in range(arguments.steps):
        begin = time.monotonic()
        losses.append(step())
        times.append(time.monotonic() - begin)
    distributed.barrier()
    measured_s.append(time.monotonic())  # the clock of all processes on this machine
    sums = sum(float(p.detach().double().sum()) for p in model.parameters())
    return {"step_s": times, "measured_s": measured_s, "local_s": statistics.median(local), "losses": losses,
            "sent_bytes": (sent_bytes() - sent) / arguments.steps,
            "cpu_s": (cpu_s() - cpu) / arguments.steps, "model_sum": sums,
            "parameters": sum(p.numel() for p in model.parameters()),
            "reduced_bytes": reduced_bytes(shapes, arguments.hook)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write-model", metavar="FILE")
    parser.add_argument("--hidden", type=int, default=768)
    parser.add_argument("--model", metavar="FILE")
    parser.add_argument("--data", metavar="DIR")
    parser.add_argument("--rank", type=int)
    parser.add_argument("--size", type=int)
    parser.add_argument("--hook", choices=["none", "fp16", "powersgd"])
    parser.add_argument("--batch", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--warm", type=int)
    parser.add_argument("--steps", type=int)
    arguments = parser.parse_args()
    if arguments.write_model:
        write_model(arguments.write_model, arguments.hidden)
        return
    print(json.dumps(train(arguments)))


if __name__ == "__main__":
    main()
