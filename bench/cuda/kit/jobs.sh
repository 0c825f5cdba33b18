#!/usr/bin/env bash
# Runs the same small job with codec.device = host, emulated and cuda, for several codecs: a real
# coordinator, two real agents, synthetic training. Then a trainer in C hands over its updates in host
# memory and in that of the GPU. Prints a JSON array with the model's hash and the devices in the
# journal. Fails if the hashes of a codec and a trainer differ, if a device did not encode, or if an
# update on the GPU did not stay there.
set -uo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/cuda/kit/programs.sh
. "$kit/programs.sh"

codecs=(thc int8_shared)
(($# == 0)) || codecs=("$@")
rounds=4
# Codecs whose updates are copied to the host first.
copied=(topk mstopk dgc threshold randk star_topk var_topk gcomp powersgd)
work=$(mktemp -d)
pids=()
trap 'kill ${pids[@]+"${pids[@]}"} 2>/dev/null; rm -rf "$work"' EXIT

# PowerSGD factors matrices, so its job has one.
model_of() {
  if [[ $1 == powersgd ]]; then model=(-s 'job.layers=["weight:500x600"]'); else model=(-s job.parameters=300000); fi
}

# job FOLDER CODEC DEVICE [AGENT SETTING...]: returns an error if a daemon failed.
job() {
  local folder=$1 endpoint='' agent pid guard status=0 settings=() model
  model_of "$2"
  for agent in "${@:4}"; do settings+=(-s "$agent"); done
  mkdir "$folder"
  : >"$folder/coordinator.log"
  pids=()
  start tributary-coordinator --exit-when-done -s link.encrypted=false -s "link.endpoint=tcp://127.0.0.1:*" \
    -s "journal.file=$folder/coordinator.db" -s job.name=kit -s "job.rounds=$rounds" -s "job.codec=$2" \
    "${model[@]}" -s job.bucket_values=65536 -s job.agents_min=2 -s job.quorum=1 \
    >"$folder/coordinator.log" 2>&1 &
  pids+=($!)
  for ((i = 0; i < 200; i++)); do
    endpoint=$(sed -n 's/.*listening.*endpoint="\{0,1\}\(tcp:[^" ]*\).*/\1/p' "$folder/coordinator.log" | head -n 1)
    [[ -z $endpoint ]] || break
    sleep 0.1
  done
  for agent in a b; do
    start tributary-agent --exit-when-done -s "agent_id=$agent" -s link.encrypted=false \
      -s "journal.file=$folder/$agent.db" -s "link.coordinator=$endpoint" -s "codec.device=$3" \
      -s log.level=debug "${settings[@]}" \
      >"$folder/$agent.log" 2>&1 &
    pids+=($!)
  done
  # An agent whose trainer is refused asks again in every round.
  (sleep 60 && kill "${pids[@]}") >/dev/null 2>&1 &
  guard=$!
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  kill "$guard" 2>/dev/null
  pids=()
  ((status == 0)) || tail -n 5 "$folder"/*.log >&2
  grep -h 'encodes\|device' "$folder/a.log" | head -n 3 >&2
  return "$status"
}

failed=0
comma=''
# run CODEC TRAINER DEVICE [AGENT SETTING...]: runs the job, and prints its result. The first call for
# a codec and a trainer sets `expected` to the hash of its model.
run() {
  local codec=$1 trainer=$2 device=$3 folder=$work/$1-$2-$3 begin_ns took_ms shown hash devices stayed=0
  begin_ns=$(date +%s%N)
  job "$folder" "$codec" "$device" "${@:4}" || failed=1
  took_ms=$((($(date +%s%N) - begin_ns) / 1000000))
  # The reports on the round before the last one are stored with the last one.
  shown=$(start tributary job show kit --run "$folder/coordinator.db" --round $((rounds - 1)) --json)
  hash=$(sed -n 's/.*"model_hash": \{0,1\}"\{0,1\}\([0-9a-fx]*\).*/\1/p' <<<"$shown" | tail -n 1)
  # Each agent's map of devices, once if they are equal.
  devices=$(tr -d ' \n' <<<"$shown" | grep -o '"buckets_by_device":{[^}]*}' | cut -d: -f2- | sort -u |
    paste -sd,)
  stayed=$(tr -d ' \n' <<<"$shown" | grep -o '"update_on_device":1' | wc -l)
  printf '%s\n{"codec":"%s","trainer":"%s","device":"%s","model_hash":"%s","buckets_by_device":[%s],"update_on_device":%d,"took_ms":%d}' \
    "$comma" "$codec" "$trainer" "$device" "$hash" "$devices" "$stayed" "$took_ms"
  comma=,
  [[ $device != host ]] || expected=$hash
  if [[ -z $hash || $hash != "$expected" ]]; then
    printf '%s: the model of %s is %s, that of host is %s\n' "$codec" "$device" "$hash" "$expected" >&2
    failed=1
  fi
  if [[ $devices != "{\"$device\":"* ]]; then
    printf '%s: %s was to encode, the journal says %s\n' "$codec" "$device" "$devices" >&2
    failed=1
  fi
  if [[ $trainer == c && $device == cuda && " ${copied[*]} " != *" $codec "* && $stayed != 2 ]]; then
    printf '%s: the updates of %d of 2 agents stayed on the GPU\n' "$codec" "$stayed" >&2
    failed=1
  fi
}

library=trainer.library=$kit/bin/libtributary_c_trainer.so
printf '['
for codec in "${codecs[@]}"; do
  for device in host emulated cuda; do run "$codec" synthetic "$device"; done
  for device in host cuda; do
    run "$codec" c "$device" trainer.name=external "$library" "trainer.model_file=$device"
  done
done
printf '\n]\n'
exit "$failed"
