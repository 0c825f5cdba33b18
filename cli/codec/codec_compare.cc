// tributary codec compare: measures every codec on synthetic gradients.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/codec/measure_row.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/codec/measure.h"
#include "core/codec/registry.h"
#include "core/update/synthetic.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// The options, with their defaults. The codecs are owned by the command and made while the options
// are parsed, so that a wrong spec is refused before anything is measured.
struct CompareCommand {
  std::vector<std::unique_ptr<Codec>> codecs;  // empty: all codecs of the registry
  std::uint32_t agents = 4;
  std::uint32_t values = 1u << 20;
  std::uint32_t rounds = 10;
  std::uint64_t seed = 1;
};

// One gradient per agent. Ends early if the user stops the command.
std::vector<FloatVector> make_updates(const CompareCommand& command, World& world) {
  std::vector<FloatVector> updates(command.agents);
  for (std::uint32_t agent = 0; agent < command.agents; ++agent) {
    if (!world.progress.report("generating gradients", agent, command.agents)) break;
    updates[agent].resize(command.values);
    fill_agent_gradient({.seed = command.seed}, agent, updates[agent]);
  }
  return updates;
}

// Returns the median rate of memcpy on the same data, as an upper limit of what this machine can
// do.
double memcpy_bytes_per_s(std::span<const float> values, const Clock& clock) {
  // Odd, so that the median is a measured value.
  constexpr std::size_t kRuns = 15;
  FloatVector copy(values.size(), 0.0f);
  std::vector<double> rates;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const auto start = clock.now();
    std::memcpy(copy.data(), values.data(), values.size_bytes());
    // Keeps the compiler from removing the copy.
    asm volatile("" : : "r"(copy.data()) : "memory");
    const std::chrono::duration<double> time = clock.now() - start;
    rates.push_back(static_cast<double>(values.size_bytes()) / std::max(time.count(), 1e-9));
  }
  std::ranges::nth_element(rates, rates.begin() + kRuns / 2);
  return rates[kRuns / 2];
}

// Both errors of a codec: of one round, and of the sum over all rounds with error feedback.
struct Row {
  double nmse_first = 0;
  MeasureReport all_rounds;
};

Result<Row> measure_codec(const Codec& codec, std::span<const std::span<const float>> updates,
                          const CompareCommand& command, World& world) {
  MeasureOptions options = {.job_seed = command.seed};
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    return world.progress.report(codec.spec(), done, total);
  };
  // The rounds of a lossless codec do not differ, and some of these codecs are slow, so a few
  // rounds are enough.
  constexpr std::uint32_t kLosslessRoundsMax = 3;
  options.rounds = codec.lossy() ? command.rounds : std::min(command.rounds, kLosslessRoundsMax);
  Row row;
  TRIBUTARY_ASSIGN(row.all_rounds, measure(codec, updates, options, world.clock));
  // Without loss both errors are the same, and no second measurement is needed.
  row.nmse_first = row.all_rounds.nmse_last;
  if (!codec.lossy()) return row;
  options.rounds = 1;
  TRIBUTARY_ASSIGN(const MeasureReport first, measure(codec, updates, options, world.clock));
  row.nmse_first = first.nmse;
  return row;
}

// Must have as many cells as row_header() has entries, in the same order.
std::vector<std::string> row_cells(const Codec& codec, const Row& row) {
  std::vector<std::string> cells = cost_cells(codec, row.all_rounds);
  cells.insert(cells.begin() + 1, {stages_text(codec), std::string(name(codec.aggregation()))});
  cells.push_back(error_text(row.nmse_first));
  cells.push_back(error_text(row.all_rounds.nmse));
  std::ranges::copy(speed_cells(row.all_rounds), std::back_inserter(cells));
  return cells;
}

std::vector<std::string> row_header(std::uint32_t rounds) {
  std::vector<std::string> header = cost_header();
  header.insert(header.begin() + 1, {"stages", "kind"});
  header.push_back("NMSE");
  header.push_back(fmt::format("over {} rounds", rounds));
  std::ranges::copy(speed_header(), std::back_inserter(header));
  return header;
}

// The fields that docs/command_line.md specifies.
Json row_json(const Codec& codec, const Row& row) {
  Json json = {{"codec", codec.spec()}, {"aggregation", name(codec.aggregation())}};
  for (const Stage& stage : codec.stages()) {
    json["stages"].push_back({{"name", stage.name}, {"combine", name(stage.combine)}});
  }
  json.update(measure_json(row.all_rounds));
  json["nmse_first"] = row.nmse_first;
  return json;
}

// Every family with its default parameters.
Result<std::vector<std::unique_ptr<Codec>>> codecs_of_registry() {
  std::vector<std::unique_ptr<Codec>> codecs;
  for (const CodecFamily& family : codec_families()) {
    TRIBUTARY_ASSIGN(std::unique_ptr<Codec> codec, make_codec(family.name));
    codecs.push_back(std::move(codec));
  }
  return codecs;
}

std::string compare_text(const CompareCommand& command, const Table& table, double memcpy_rate) {
  return fmt::format(
      "Every codec on synthetic gradients: {} agents, {} values, {} rounds, seed {}.\n"
      "The agents share a log-normal gradient and differ by noise of a tenth of its deviation.\n\n"
      "{}\n"
      "stages: operation that combines the payloads of each stage; kind: aggregation of the last "
      "stage.\n"
      "up, down: float32 size over the bytes sent by and to one agent; bits: per value.\n"
      "NMSE: squared error of the decoded mean after one round, and of the sum over all rounds "
      "with error "
      "feedback.\n"
      "Speeds: float32 bytes of one agent on one core; memcpy in the same run: {}.\n",
      command.agents, count_text(command.values), command.rounds, command.seed, table.text(),
      rate_text(memcpy_rate));
}

Result<Answer> compare(CompareCommand& command, World& world) {
  if (command.codecs.empty()) {
    TRIBUTARY_ASSIGN(command.codecs, codecs_of_registry());
  }
  const std::vector<FloatVector> updates = make_updates(command, world);
  const double memcpy_rate = memcpy_bytes_per_s(updates[0], world.clock);
  const std::vector<std::span<const float>> spans(updates.begin(), updates.end());
  Table table(row_header(command.rounds));
  Json rows = Json::array();
  for (const auto& codec : command.codecs) {
    Result<Row> row = measure_codec(*codec, spans, command, world);
    if (!row.ok()) return std::move(row).status().at(codec->spec());
    table.add(row_cells(*codec, *row));
    rows.push_back(row_json(*codec, *row));
  }
  Answer answer;
  answer.text = compare_text(command, table, memcpy_rate);
  answer.data = json_text({{"agents", command.agents},
                           {"values", command.values},
                           {"rounds", command.rounds},
                           {"seed", command.seed},
                           {"memcpy_bytes_per_s", memcpy_rate},
                           {"codecs", std::move(rows)}});
  return answer;
}

}  // namespace

Command codec_compare_command() {
  const auto command = std::make_shared<CompareCommand>();
  return {.noun = "codec",
          .verb = "compare",
          .summary = "measure every codec on synthetic gradients",
          .details =
              "Measures all codecs, or those named, and prints a table.\n\n"
              "examples:\n"
              "  tributary codec compare\n"
              "  tributary codec compare --agents 10 --rounds 50 --codec int8 --codec int8_shared\n"
              "  tributary codec compare --values 16Mi --json",
          .options = {{.name = "--agents",
                       .value_name = "N",
                       .help = "number of agents (4)",
                       .accept = accept_count(command->agents, 1u, 1024u)},
                      {.name = "--values",
                       .value_name = "N",
                       .help = "values of each agent's gradient (1Mi)",
                       .accept = accept_count(command->values, 1u, 1u << 30)},
                      {.name = "--rounds",
                       .value_name = "N",
                       .help = "number of rounds, with error feedback (10)",
                       .accept = accept_count(command->rounds, 1u, 1'000'000u)},
                      {.name = "--seed",
                       .value_name = "N",
                       .help = "seed of gradients and random draws (1)",
                       .accept = accept_count<std::uint64_t>(command->seed, 0)},
                      {.name = "--codec",
                       .value_name = "SPEC",
                       .help = "measure only this codec; may be repeated",
                       .accept = accept_codecs(command->codecs),
                       .repeatable = true}},
          .run = [command](World& world) { return compare(*command, world); }};
}

}  // namespace tributary
