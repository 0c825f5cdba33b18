#!/usr/bin/env bash
# Runs the tests and the benchmark of the GPU's kernels, and jobs of real daemons, on a machine that has
# a driver and nothing else of this project. ./run.sh --help describes it.
set -uo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'END'
usage: ./run.sh [--out FILE] [PART...]

Writes one JSON file (kit.json) and prints it. The exit status is 0 if nothing failed. If no GPU can be
used, the file says why, no part runs, and the exit status is 3. Without PART all parts run:

  tests       the tests of the kernels
  bench       the benchmark
  jobs        the same small jobs with codec.device = host, emulated and cuda
  sanitizer   the tests under compute-sanitizer's memcheck, synccheck and initcheck, if it is on the
              path or in /usr/local/cuda/bin
  racecheck   the tests with small buckets under its racecheck, one family of kernels after the other
END
}

out=kit.json
parts=()
while (($#)); do
  case $1 in
    --out) out=$2 && shift ;;
    tests | bench | jobs | sanitizer | racecheck) parts+=("$1") ;;
    --help | -h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done
((${#parts[@]})) || parts=(tests bench jobs sanitizer racecheck)
# shellcheck source=bench/cuda/kit/programs.sh
. "$kit/programs.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=()

# text FILE: the file's last lines as a string of JSON.
text() {
  printf '"'
  tail -n 60 "$1" | tr -d '\000-\010\013-\037' | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/ /g' -e 's/$/\\n/' |
    tr -d '\n'
  printf '"'
}

# json FILE: the file, or null.
json() {
  if [[ -s $1 ]]; then cat "$1"; else printf null; fi
}

run_tests() {
  start core_codec_cuda_gpu_test "--gtest_output=json:$work/tests.json" >"$work/tests.log" 2>&1
  local status=$?
  # Without a GPU all tests are skipped, and the program succeeds.
  if ((status != 0)) || ! grep -q '^\[       OK \]' "$work/tests.log"; then failed+=(tests); fi
  grep -E '^\[  (PASSED|FAILED|SKIPPED)' "$work/tests.log" >&2
  printf '{"exit":%d,"summary":%s,"output":%s}' "$status" \
    "\"$(sed -n 's/^\[==========\] \([0-9].*\)/\1/p' "$work/tests.log" | tail -n 1)\"" "$(text "$work/tests.log")"
}

run_bench() {
  start tributary-bench-cuda --json "$work/bench.json" >"$work/bench.log" 2>&1
  local status=$?
  ((status == 0)) || failed+=(bench)
  cat "$work/bench.log" >&2
  printf '{"exit":%d,"figures":%s,"output":%s}' "$status" "$(json "$work/bench.json")" "$(text "$work/bench.log")"
}

run_jobs() {
  "$kit/jobs.sh" >"$work/jobs.json" 2>"$work/jobs.log"
  local status=$?
  ((status == 0)) || failed+=(jobs)
  cat "$work/jobs.json" "$work/jobs.log" >&2
  printf '{"exit":%d,"jobs":%s,"output":%s}' "$status" "$(json "$work/jobs.json")" "$(text "$work/jobs.log")"
}

# Sets the variable sanitizer to the program, or prints that there is none.
find_sanitizer() {
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) && return
  printf '{"skipped":"no compute-sanitizer on the path or in /usr/local/cuda/bin"}'
  return 1
}

# sanitize NAME TOOL ARGUMENT...: runs the tests under a tool, and prints its result as a member NAME.
sanitize() {
  local name=$1 tool=$2 begin_s=$SECONDS status
  shift 2
  # shellcheck disable=SC2154 # programs.sh sets them
  timeout "${KIT_SANITIZER_S:-240}" "$sanitizer" --tool "$tool" --error-exitcode 99 --print-limit 20 \
    --target-processes all "$loader" --library-path "$libraries" \
    "$kit/bin/core_codec_cuda_gpu_test" "$@" >"$work/$name.log" 2>&1
  status=$?
  ((status == 0)) || failed+=("$name")
  printf '%s: exit %d after %d s, %s\n' "$name" "$status" $((SECONDS - begin_s)) \
    "$(grep 'SUMMARY' "$work/$name.log" | tail -n 1)" >&2
  printf '"%s":{"exit":%d,"took_s":%d,"output":%s}' "$name" "$status" $((SECONDS - begin_s)) "$(text "$work/$name.log")"
}

run_sanitizer() {
  local tool comma=''
  find_sanitizer || return
  printf '{'
  for tool in memcheck synccheck initcheck; do
    printf '%s' "$comma"
    sanitize "$tool" "$tool"
    comma=,
  done
  printf '}'
}

# The file racecheck has lines of a family and the filter of its tests.
run_racecheck() {
  local family filter comma=''
  find_sanitizer || return
  printf '{'
  while read -r family filter; do
    printf '%s' "$comma"
    sanitize "racecheck_$family" racecheck "--gtest_filter=$filter" </dev/null
    comma=,
  done <"$kit/racecheck"
  printf '}'
}

# Prints why no GPU can be used, and nothing if one can: a test of one kernel passes, or is skipped with
# the reason.
reason_without_gpu() {
  start core_codec_cuda_gpu_test "--gtest_filter=DeviceSteps.HaveTheBitsOfTheSpecification" >"$work/gpu.log" 2>&1
  ! grep -q '^\[       OK \]' "$work/gpu.log" || return 0
  if grep -q ': Skipped$' "$work/gpu.log"; then
    sed -n '/: Skipped$/{n;p;q}' "$work/gpu.log"
  else
    printf 'the test of one kernel failed:\n'
    cat "$work/gpu.log"
  fi
}

describe() {
  nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv,noheader >"$work/gpu" 2>&1
  sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1 >"$work/cpu"
  printf '{"gpu":%s,"cpu":%s,"cores":%d,"kit":%s}' "$(text "$work/gpu")" "$(text "$work/cpu")" "$(nproc)" \
    "$(text "$kit/commit")"
}

describe >"$work/machine.part"
reason_without_gpu >"$work/reason"
if [[ -s $work/reason ]]; then
  printf 'no GPU can be used: %s\n' "$(cat "$work/reason")" >&2
  printf '{"machine":%s,\n"no_gpu":%s,\n"failed":["gpu"]}\n' "$(cat "$work/machine.part")" "$(text "$work/reason")" |
    tee "$out"
  exit 3
fi
# In this shell, so that `failed` is set.
for part in "${parts[@]}"; do
  printf -- '--- %s\n' "$part" >&2
  "run_$part" >"$work/$part.part"
done
{
  printf '{"machine":%s' "$(cat "$work/machine.part")"
  for part in "${parts[@]}"; do printf ',\n"%s":%s' "$part" "$(cat "$work/$part.part")"; done
  printf ',\n"failed":['
  comma=''
  for part in ${failed[@]+"${failed[@]}"}; do
    printf '%s"%s"' "$comma" "$part"
    comma=,
  done
  printf ']}\n'
} | tee "$out"
((${#failed[@]} == 0))
