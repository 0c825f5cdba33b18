#!/usr/bin/env python3
"""Makes the folder with which the GPU's kernels are tested and measured on another machine.

usage: kit.py --build FOLDER --out FOLDER

The other machine needs an x86-64 processor, a driver, bash, tar and gzip. The folder carries the
programs and all libraries that they load but the driver's, in an archive that the scripts unpack.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = ["core/codec/cuda/gpu/core_codec_cuda_gpu_test", "bench/tributary-bench-cuda",
            "coordinator/tributary-coordinator", "edge_agent/tributary-agent", "cli/tributary",
            "tests/end_to_end/libtributary_c_trainer.so"]
# racecheck slows kernels down by a factor of hundreds, so that it runs these tests of each family of
# kernels, whose buckets are small.
SMALL = "*/CodecsOnDevice.GiveTheSameBytesOfAFewTiles"
RACECHECK = {
    "quantize": f"{SMALL}/fp16:{SMALL}/int8*:{SMALL}/qsgd*:DevicePacked.EveryNumberOfBitsIsPacked",
    "thc": f"{SMALL}/thc*",
    "threelc": f"{SMALL}/threelc*:{SMALL}/stoch3:{SMALL}/terngrad:DeviceTernary.ChunksEndTheirRuns:"
               "DeviceTernary.LayersHaveTheirOwnUnit",
    "sparse": f"{SMALL}/*topk*:{SMALL}/dgc:{SMALL}/threshold:{SMALL}/randk:DevicePlaces.*:"
              "DeviceSelection.OfEqualValuesTheFirstAreTaken:DeviceSelection.TakesAllValuesAndNone",
    "gcomp": f"{SMALL}/gcomp*",
    "signs": f"{SMALL}/signsgd:{SMALL}/ef_signsgd:{SMALL}/onebit*",
    "lowrank": f"{SMALL}/powersgd*",
    "optimizer": "DeviceSteps.*:OptimizersOnDevice.*",
    "vector": "DeviceVectorKernels.*:VectorsOnDevice.*",
}
LOADER = "ld-linux-x86-64.so.2"
KIT_BYTES_MAX = 40 << 20


def output(*command) -> str:
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          capture_output=True).stdout


def libraries(program: Path) -> list[Path]:
    """All that the loader maps, itself included."""
    found = [Path(path) for path in re.findall(r"(/\S+) \(0x", output("ldd", program))]
    bad = [path.name for path in found if re.match(r"lib(cuda|torch)", path.name)]
    if bad:
        sys.exit(f"kit.py: {program} needs {', '.join(bad)}; the kit must not depend on them")
    return found


def commit() -> str:
    changed = output("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no").strip()
    return output("git", "-C", ROOT, "rev-parse", "--short=12", "HEAD").strip() + (
        " with changes" if changed else "")


def collect(build: Path, folder: Path):
    """Copies the programs and their libraries, without symbols, to bin and lib."""
    for name in ("bin", "lib"):
        (folder / name).mkdir()
    for program in PROGRAMS:
        built = build / program
        copies = [(built, folder / "bin" / built.name)]
        copies += [(library, folder / "lib" / library.name) for library in libraries(built)]
        for source, copy in copies:
            if not copy.exists():
                shutil.copy(source, copy)
                subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
    assert (folder / "lib" / LOADER).exists()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="a build with code for GPUs")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make")
    options = parser.parse_args()

    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        collect(options.build, Path(folder))
        with tarfile.open(options.out / "programs.tar.gz", "w:gz") as archive:
            for name in ("bin", "lib"):
                archive.add(Path(folder) / name, name)
    for script in (ROOT / "bench/cuda/kit").iterdir():
        shutil.copy(script, options.out / script.name)
    (options.out / "racecheck").write_text(
        "".join(f"{family} {filters}\n" for family, filters in RACECHECK.items()), encoding="utf-8")
    (options.out / "commit").write_text(commit() + "\n", encoding="utf-8")

    size = sum(file.stat().st_size for file in options.out.iterdir())
    if size > KIT_BYTES_MAX:
        sys.exit(f"kit.py: the kit has {size >> 20} MiB; expected {KIT_BYTES_MAX >> 20} MiB or less")
    print(f"{options.out}: {size / 1e6:.1f} MB; on the other machine run ./run.sh")


if __name__ == "__main__":
    main()
