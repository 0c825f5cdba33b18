#!/usr/bin/env python3
"""What a budget for all buckets of a round would gain on captured gradients, for codecs that spend
the same in each bucket: one threshold for top-k, and bits by bucket for even levels (`int8_shared`,
`qsgd`). Computed here from the values; no codec runs.

For top-k: the share of the energy that the kept values have, with k values of each bucket and with
k times the number of buckets of all. For even levels the error of a bucket is its range or norm,
squared, times 4^-bits, so the best division lowers all errors to one; it saves half the logarithm
to base 2 of the arithmetic over the geometric mean of these squares, in bits of a value at the same
error. Bits are not whole numbers here, so this is a bound.

Needs Debian's python3-numpy."""

import argparse
import pathlib

import numpy

RATIO = 0.01
BLOCK = 4096  # of int8_shared


def buckets_of(values, size):
    """Buckets of equal size, as jobs have them."""
    return numpy.array_split(values, -(-len(values) // size))


def energy_of_largest(values, count):
    squares = values * values
    return numpy.partition(squares, len(squares) - count)[len(squares) - count:].sum()


def kept(buckets):
    """Shares of the energy: k of each bucket, and as many of all."""
    everything = numpy.concatenate(buckets)
    counts = [max(1, int(RATIO * len(bucket))) for bucket in buckets]
    each = sum(energy_of_largest(bucket, count) for bucket, count in zip(buckets, counts))
    energy = (everything * everything).sum()
    return each / energy, energy_of_largest(everything, sum(counts)) / energy


def bits_saved(squares, weights):
    """Half the logarithm of the arithmetic over the geometric mean; squares of 0 need no bits and
    are left out."""
    known = squares > 0
    squares, weights = squares[known], weights[known] / weights[known].sum()
    return 0.5 * (numpy.log2((squares * weights).sum()) - (numpy.log2(squares) * weights).sum())


def range_square(bucket):
    """The mean square of the ranges of the blocks of int8_shared."""
    blocks = numpy.array_split(bucket, -(-len(bucket) // BLOCK))
    return numpy.mean([numpy.abs(block).max() ** 2 for block in blocks])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bucket-values", type=int, default=1 << 16)
    parser.add_argument("captures", nargs="*", default=["bench/gradients/captured"],
                        help="folders with the results of bench/gradients/capture.py")
    options = parser.parse_args()
    print(f"{'gradient':30} {'buckets':>7}  energy kept by top-k: each, all   bits saved: "
          "int8_shared, qsgd")
    for folder in options.captures:
        for path in sorted(pathlib.Path(folder).glob("*.gradient.f32")):
            values = numpy.fromfile(path, dtype="<f4").astype(numpy.float64)
            buckets = buckets_of(values, options.bucket_values)
            sizes = numpy.array([len(bucket) for bucket in buckets])
            ranges = numpy.array([range_square(bucket) for bucket in buckets])
            norms = numpy.array([(bucket * bucket).mean() for bucket in buckets])
            each, together = kept(buckets)
            print(f"{path.name.removesuffix('.gradient.f32'):30} {len(buckets):7} "
                  f"{each:22.3f}, {together:.3f} {bits_saved(ranges, sizes):22.2f}, "
                  f"{bits_saved(norms, sizes):.2f}")


if __name__ == "__main__":
    main()
