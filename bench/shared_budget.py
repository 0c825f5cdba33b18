#!/usr/bin/env python3
"""What a budget shared by parts of an update would gain on captured gradients, beside the blocks of
`thc:rate`: bits by layer, bits by bucket for `qsgd` and `int8_shared`, and one threshold of top-k
for all buckets. Computed here from the values; no codec runs.

The error of a part is its mean square (for `int8_shared` that of its blocks' ranges) times 4^-bits,
at most the mean square. The best division gives all parts that are sent the same error. Printed are
the bits of a value that it saves at the error of equal bits. They need not be whole numbers, so this
is a bound. Beside it are the bits saved with whole bits by bucket, 0 or 2 to 8, and the expected
errors of the rounding itself: of `qsgd:norm=max` at 4 bits, and of the grid of `int8_shared`, if it
had fewer than 8. Top-k: the share of an update that has arrived after 1 and 20 rounds of the same gradient
with error feedback, with k values of each bucket and with as many of all.

Needs Debian's python3-numpy."""

import argparse
import json
import math
import pathlib

import numpy

RATIO = 0.01
BLOCK = 4096       # of int8_shared
QSGD_BLOCK = 512
RATED_BLOCK = 256  # of thc:rate
ROUNDS = 20


def pieces_of(values, size):
    """Pieces of equal size, as the buckets of a job are."""
    return numpy.array_split(values, -(-len(values) // size))


def mean_square(piece):
    return (piece * piece).mean()


def range_square(piece):
    return numpy.mean([numpy.abs(block).max() ** 2 for block in pieces_of(piece, BLOCK)])


def bits_saved(pieces, square, bits):
    """Of a value, at the error that all pieces have with `bits`."""
    squares = numpy.array([square(piece) for piece in pieces])
    weights = numpy.array([len(piece) for piece in pieces]) / sum(len(piece) for piece in pieces)
    error = (squares * weights).sum() * 4.0 ** -bits
    low, high = 0.0, squares.max()
    for _ in range(200):  # the error of each piece that is sent
        level = (low + high) / 2
        if (numpy.minimum(squares, level) * weights).sum() > error:
            high = level
        else:
            low = level
    sent = squares > low
    return bits - 0.5 * (numpy.log2(squares[sent] / low) * weights[sent]).sum()


def rounding_errors(piece, block):
    """Expected squared error of random rounding, by bits, on levels up to each block's range."""
    errors = {0: (piece * piece).sum()}
    for bits in range(2, 9):
        errors[bits] = 0.0
        for part in (piece[at:at + block] for at in range(0, len(piece), block)):
            step = numpy.abs(part).max() / (2 ** (bits - 1) - 1)
            if step == 0:
                continue
            up = part / step - numpy.floor(part / step)
            errors[bits] += (up * (1 - up)).sum() * step * step
    return errors


def whole_bits_saved(pieces, block, bits):
    """Of a value, with whole bits by piece. Each piece takes its steps in the order of the error
    that a bit removes, until the error is that of `bits` for all."""
    tables = [rounding_errors(piece, block) for piece in pieces]
    goal = sum(table[bits] for table in tables)
    steps = []
    for piece, table in zip(pieces, tables):
        at = 0
        while at < 8:  # the next corner of the lower hull
            gain, to = max(((table[at] - table[to]) / (to - at), to) for to in table if to > at)
            if gain <= 0:
                break
            steps.append((gain / len(piece), (to - at) * len(piece), table[at] - table[to]))
            at = to
    error, used = sum(table[0] for table in tables), 0
    for _, cost, less in sorted(steps, reverse=True):
        if error <= goal:
            break
        error, used = error - less, used + cost
    return bits - used / sum(len(piece) for piece in pieces)


def arrived(pieces, rounds):
    """Share of an update's energy with k values of each piece."""
    error = 0
    for piece in pieces:
        residual = numpy.zeros_like(piece)
        count = max(1, int(RATIO * len(piece)))
        for _ in range(rounds):
            residual += piece
            residual[numpy.argpartition(numpy.abs(residual), len(piece) - count)[-count:]] = 0
        error += (residual * residual).sum()
    return 1 - error / (rounds ** 2 * sum((piece * piece).sum() for piece in pieces))


def layers_of(values, tensors):
    sizes = [math.prod(tensor["shape"]) for tensor in tensors]
    return numpy.split(values, numpy.cumsum(sizes)[:-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bucket-values", type=int, default=1 << 20)
    parser.add_argument("captures", nargs="*", default=["bench/gradients/captured"],
                        help="folders with the results of bench/gradients/capture.py")
    options = parser.parse_args()
    print(f"{'':30} {'':7}   bits saved of 4: {'':17} of 8: {'':13} arrived by top-k, 1 round and "
          f"{ROUNDS}:\n{'gradient':30} {'buckets':>7}  blocks  layers  buckets  whole  int8_shared  whole   each "
          "bucket   all of a round")
    for folder in map(pathlib.Path, options.captures):
        captures = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["captures"]
        for capture in captures:
            path = folder / f"{capture['capture']}.gradient.f32"
            values = numpy.fromfile(path, dtype="<f4").astype(numpy.float64)
            buckets = pieces_of(values, options.bucket_values)
            saved = [bits_saved(pieces_of(values, RATED_BLOCK), mean_square, 4),
                     bits_saved(layers_of(values, capture["tensors"]), mean_square, 4),
                     bits_saved(buckets, mean_square, 4), whole_bits_saved(buckets, QSGD_BLOCK, 4),
                     bits_saved(buckets, range_square, 8), whole_bits_saved(buckets, BLOCK, 8)]
            shares = [arrived(pieces, rounds)
                      for pieces in (buckets, [values]) for rounds in (1, ROUNDS)]
            print(f"{capture['capture']:30} {len(buckets):7} {saved[0]:7.2f} {saved[1]:7.2f} "
                  f"{saved[2]:8.2f} {saved[3]:6.2f} {saved[4]:12.2f} {saved[5]:6.2f} {shares[0]:7.3f} {shares[1]:.3f} "
                  f"{shares[2]:8.3f} {shares[3]:.3f}")


if __name__ == "__main__":
    main()
