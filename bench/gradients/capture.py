#!/usr/bin/env python3
"""Captures what travels when small models are trained: gradients, and beside them the parameters
and the optimizer's state that they met.

A convnet learns to tell drawn shapes apart, a character transformer to continue made-up sentences,
each once with SGD and once with AdamW. All data is drawn here; nothing is downloaded. At the
beginning, in the middle and at the end of every training the vectors are written as raw
little-endian float32, all tensors one after the other, and manifest.json tells what is in them.

Needs Debian's python3-torch and python3-numpy.
"""

import argparse
import hashlib
import json
import math
import pathlib
import sys

import numpy
import torch
from torch import nn

SEED = 20240607
MOMENTS = ("beginning", "middle", "end")


class Size:
    """Sizes of the models and lengths of their training."""

    def __init__(self, large):
        self.channels = (32, 64, 128) if large else (8, 16, 32)
        self.hidden = 512 if large else 96
        self.symbols = 1024 if large else 512
        self.width = 128 if large else 32
        self.layers = 3 if large else 1
        self.context = 64 if large else 32
        self.steps = {"convnet": 1200 if large else 4000, "transformer": 500 if large else 1000}
        self.batch = 64


# --- data


def shape_images(count, random):
    """Images of 24 x 24 pixels with eight shapes of any size, position and brightness, and their
    labels."""
    side = 24
    grid = numpy.arange(side, dtype=numpy.float32)
    y, x = numpy.meshgrid(grid, grid, indexing="ij")
    images = numpy.zeros((count, 1, side, side), dtype=numpy.float32)
    labels = random.integers(0, 8, size=count)
    for i, label in enumerate(labels):
        radius = random.uniform(4, 9)
        cx, cy = random.uniform(radius, side - radius, size=2)
        dx, dy = (x - cx) / radius, (y - cy) / radius
        distance = numpy.hypot(dx, dy)
        images[i, 0] = (
            distance < 1,
            numpy.maximum(abs(dx), abs(dy)) < 0.9,
            abs(dx) + abs(dy) < 1.1,
            (distance < 1) & (distance > 0.6),
            (numpy.minimum(abs(dx), abs(dy)) < 0.3) & (distance < 1),
            (abs(dx) < 0.8) & (abs(dy) < 0.3),
            (abs(dx) < 0.3) & (abs(dy) < 0.8),
            (dy > -0.8) & (dy < 0.8) & (abs(dx) < (dy + 0.8) / 2),
        )[label]
    images *= random.uniform(0.5, 1, size=(count, 1, 1, 1)).astype(numpy.float32)
    return torch.from_numpy(images), torch.from_numpy(labels)


def sentences(length, random):
    """Text of a small artificial language: each word follows the one before with fixed
    probabilities."""
    words = []
    for _ in range(60):
        syllables = random.integers(1, 4)
        words.append("".join(random.choice(list("bdfklmnprst")) + random.choice(list("aeiou"))
                             for _ in range(syllables)))
    follow = random.dirichlet(numpy.full(len(words), 0.05), size=len(words))
    text, word, since = [], 0, 0
    while sum(map(len, text)) < length:
        word = random.choice(len(words), p=follow[word])
        since += 1
        if since > random.integers(4, 12):
            text.append(words[word] + ". ")
            since = 0
        else:
            text.append(words[word] + " ")
    codes = numpy.frombuffer("".join(text)[:length].encode("ascii"), dtype=numpy.uint8)
    return torch.from_numpy(codes.astype(numpy.int64))


# --- models


def convnet(size):
    a, b, c = size.channels
    return nn.Sequential(
        nn.Conv2d(1, a, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(b, c, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(c * 9, size.hidden), nn.ReLU(), nn.Linear(size.hidden, 8))


class Transformer(nn.Module):
    """Predicts the next character. Its vocabulary is larger than that of the text."""

    def __init__(self, size):
        super().__init__()
        self.symbols = nn.Embedding(size.symbols, size.width)
        self.places = nn.Embedding(size.context, size.width)
        layer = nn.TransformerEncoderLayer(size.width, 4, 4 * size.width, dropout=0.0,
                                           batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, size.layers)
        self.out = nn.Linear(size.width, size.symbols, bias=False)

    def forward(self, codes):
        length = codes.shape[1]
        hidden = torch.full((length, length), -math.inf).triu(1)
        x = self.symbols(codes) + self.places(torch.arange(length))
        return self.out(self.layers(x, mask=hidden))


class ShapesTask:
    name = "convnet"

    def __init__(self, size):
        random = numpy.random.default_rng(SEED)
        self.images, self.labels = shape_images(4096, random)
        self.model = convnet(size)
        self.batch = size.batch

    def loss(self):
        chosen = torch.randint(len(self.images), (self.batch,))
        return nn.functional.cross_entropy(self.model(self.images[chosen]), self.labels[chosen])


class TextTask:
    name = "transformer"

    def __init__(self, size):
        random = numpy.random.default_rng(SEED)
        self.codes = sentences(200_000, random)
        self.model = Transformer(size)
        self.batch = size.batch // 2
        self.context = size.context

    def loss(self):
        starts = torch.randint(len(self.codes) - self.context - 1, (self.batch,))
        window = torch.stack([self.codes[s:s + self.context + 1] for s in starts.tolist()])
        odds = self.model(window[:, :-1])
        return nn.functional.cross_entropy(odds.flatten(0, 1), window[:, 1:].flatten())


# --- training

OPTIMIZERS = {
    "sgd": {"learning_rate": 0.05, "weight_decay": 1e-4},
    "adamw": {"learning_rate": 3e-4, "weight_decay": 1e-2, "beta1": 0.9, "beta2": 0.999,
              "epsilon": 1e-8},
}


def make_optimizer(kind, parameters):
    h = OPTIMIZERS[kind]
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=h["learning_rate"], weight_decay=h["weight_decay"])
    return torch.optim.AdamW(parameters, lr=h["learning_rate"], betas=(h["beta1"], h["beta2"]),
                             eps=h["epsilon"], weight_decay=h["weight_decay"])


def rate_at(step, steps):
    """Linear warm-up over a twentieth of the steps, then cosine decay to a hundredth."""
    warm = min(1.0, step / (steps / 20))
    return warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (step - 1) / steps)))


def vectors(kind, parameters, optimizer):
    """The vectors that an optimizer view shows before the optimizer's step."""
    def flat(tensors):
        return numpy.concatenate([t.detach().numpy().astype("<f4").ravel() for t in tensors])

    found = {"gradient": flat(p.grad for p in parameters),
             "parameters": flat(p.data for p in parameters)}
    if kind == "adamw":
        for name, key in (("first_moment", "exp_avg"), ("second_moment", "exp_avg_sq")):
            found[name] = flat(optimizer.state[p].get(key, torch.zeros_like(p))
                               for p in parameters)
    return found


def write(out, stem, found):
    files = {}
    for name, values in found.items():
        data = values.tobytes()
        path = out / f"{stem}.{name}.f32"
        path.write_bytes(data)
        files[name] = {"file": path.name, "sha256": hashlib.sha256(data).hexdigest()}
    return files


def train(task_type, kind, size, out):
    torch.manual_seed(SEED)
    task = task_type(size)
    named = list(task.model.named_parameters())
    parameters = [p for _, p in named]
    optimizer = make_optimizer(kind, parameters)
    steps = size.steps[task.name]
    at = dict(zip((1, steps // 2, steps), MOMENTS))
    captures = []
    for step in range(1, steps + 1):
        rate = OPTIMIZERS[kind]["learning_rate"] * rate_at(step, steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=False)
        loss = task.loss()
        loss.backward()
        if step in at:
            stem = f"{task.name}-{kind}-{at[step]}"
            captures.append({
                "capture": stem, "model": task.name, "moment": at[step], "step": step,
                "loss": round(loss.item(), 6), "values": sum(p.numel() for p in parameters),
                "tensors": [{"name": n, "shape": list(p.shape)} for n, p in named],
                "optimizer": {"kind": kind, **OPTIMIZERS[kind], "learning_rate": rate},
                "files": write(out, stem, vectors(kind, parameters, optimizer)),
            })
        if step in at or step % (steps // 20) == 0:
            tell(f"{task.name}, {kind}: step {step} of {steps}, loss {loss.item():.4f}", step == steps)
        optimizer.step()
    return captures


def tell(words, last):
    """Prints progress: on a terminal it overwrites one line, otherwise it prints a new line each
    time."""
    terminal = sys.stderr.isatty()
    print(f"\r{words}\x1b[K" if terminal else words, end="" if terminal and not last else "\n",
          file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--large", action="store_true", help="the set that is not committed")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # the order of sums, and so the files, depend on the number of threads
    size = Size(arguments.large)
    captures = [capture for task in (ShapesTask, TextTask) for kind in OPTIMIZERS
                for capture in train(task, kind, size, arguments.out)]
    manifest = {"schema_version": 1, "seed": SEED, "large": arguments.large,
                "torch": torch.__version__, "format": "float32, little-endian, tensors in order",
                "captures": captures}
    (arguments.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
