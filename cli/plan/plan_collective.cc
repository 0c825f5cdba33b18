// tributary plan collective: predicts the duration of each collective.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/codec/registry.h"
#include "core/cost/exchange_cost.h"
#include "core/cost/measured_stages.h"
#include "core/cost/stage_sizes.h"
#include "core/cost/table_one.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kCollectiveAgentsMax = 1024;
// The largest bucket that is chosen automatically, in values.
constexpr std::uint64_t kBucketValues = 1u << 20;
constexpr std::uint64_t kBucketsEach = 4;  // per agent, for small models

// Units are those of the options: ms, 10^9 bit/s, percent. Conversions to SI happen where a
// prediction begins.
struct Request {
  double alpha_ms = 0;
  double gbps = 0;
  double hub_gbps = 0;  // 0: the same as the agents'
  std::uint64_t params = 0;
  double cr = 1;
  std::uint32_t agents = 0;
  std::uint64_t bucket_values = 0;  // 0: chosen automatically
  double overhead = 0;              // share that headers add, in percent
  std::unique_ptr<Codec> codec;     // replaces the codecs that follow from cr; always measured
  bool measured = false;
  double message_us = 0;
  double byte_ns = 0;
  double cores = 1;        // per agent
  double encode_gbps = 0;  // 0: not counted
  double aggregate_gbps = 0;
  double decode_gbps = 0;
};

// The times of one collective: with the requested compression, and dense as fp32.
struct CollectiveRow {
  wire::Collective kind;
  std::string codec;
  double compressed_s;
  double dense_s;
};

// The result of predict(). `best` is an index into `rows`.
struct Prediction {
  std::uint32_t buckets = 1;
  double bucket_values = 0;
  std::vector<CollectiveRow> rows;  // in the order of kCollectives
  std::size_t best = 0;
  bool best_is_dense = false;
  std::map<std::string, MeasuredStages> measured;  // by codec

  const CollectiveRow& choice() const { return rows[best]; }
};

// From the options' units to seconds and seconds per byte; the overhead of headers is part of the
// time per byte.
LinkEstimate link_of(const Request& request, double gbps) {
  return {.alpha_s = request.alpha_ms * 1e-3,
          .beta_s_per_byte = 8e-9 / gbps * (1 + request.overhead / 100)};
}

// Collectives that form partial sums need the same value positions from all agents. Collectives
// that deliver every payload do not.
bool sums(wire::Collective kind) {
  return kind != wire::Collective::star && kind != wire::Collective::all_gather;
}

// Without --codec the codec follows from --cr and from what the collective can sum.
std::string codec_of(wire::Collective kind, const Request& request) {
  if (request.codec) return request.codec->spec();
  if (request.cr >= 1) return "fp32";
  return fmt::format("{}:cr={}", sums(kind) ? "star_topk" : "topk", request.cr);
}

// Stages with calculated sizes and the given speeds. The agent that selects values is the one that
// encodes them.
MeasuredStages stated_stages(wire::Collective kind, const Request& request, double values) {
  MeasuredStages all;
  if (request.cr >= 1) {
    all.stages = dense_stages(values);
  } else {
    all.stages = sums(kind) ? ar_top_k_stages(values, request.cr)
                            : top_k_stages(values, request.cr, request.agents);
  }
  // Rates count the float32 values that are processed, 32 bits each, and not the encoded bytes.
  const auto bucket_s = [values](double gbps) { return gbps > 0 ? values * 32e-9 / gbps : 0; };
  all.stages.front().encode_s = bucket_s(request.encode_gbps);
  all.stages.back().aggregate_s = bucket_s(request.aggregate_gbps);
  all.decode_s = bucket_s(request.decode_gbps);
  return all;
}

// Predicts one exchange with these stages.
double predicted_seconds(wire::Collective kind, const Request& request,
                         const Prediction& prediction, const MeasuredStages& bucket) {
  return predict_exchange(
             kind,
             {.agents = request.agents,
              .buckets = prediction.buckets,
              .stages = bucket.stages,
              .decode_s = bucket.decode_s,
              .message_s = request.message_us * 1e-6,
              .byte_s = request.byte_ns * 1e-9,
              .cores = request.cores},
             {.agents = link_of(request, request.gbps),
              .hub = link_of(request, request.hub_gbps > 0 ? request.hub_gbps : request.gbps),
              .frame_bytes = kFrameBytes})
      .seconds;
}

// Values of one bucket; never more than the model has.
std::uint64_t bucket_values(const Request& request) {
  if (request.bucket_values > 0) return std::min(request.bucket_values, request.params);
  // Collectives among peers give each agent some buckets, so there must be several per agent.
  const std::uint64_t shares = kBucketsEach * request.agents;
  return std::clamp<std::uint64_t>((request.params + shares - 1) / shares, 1, kBucketValues);
}

// Measures each codec once, even if several collectives use it.
Status measure_codec(const std::string& spec, const Request& request, Prediction& prediction,
                     const Clock& clock) {
  if (prediction.measured.contains(spec)) return {};
  TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, make_codec(spec));
  TRIBUTARY_ASSIGN(prediction.measured[spec],
                   measure_stages(*codec, request.agents,
                                  static_cast<std::uint32_t>(prediction.bucket_values), clock));
  return {};
}

Result<Prediction> predict(const Request& request, const Clock& clock) {
  Prediction prediction;
  const std::uint64_t values = bucket_values(request);
  prediction.buckets = static_cast<std::uint32_t>((request.params + values - 1) / values);
  prediction.bucket_values = static_cast<double>(request.params) / prediction.buckets;
  // Formulas exist only for fp32 and the Top-k family, so any other codec has to be measured.
  const bool measured = request.measured || request.codec != nullptr;
  if (measured) TRIBUTARY_TRY(measure_codec("fp32", request, prediction, clock));
  const MeasuredStages dense =
      measured ? prediction.measured["fp32"]
               : MeasuredStages{.stages = dense_stages(prediction.bucket_values)};
  for (const wire::Collective kind : kCollectives) {
    CollectiveRow row = {
        .kind = kind, .codec = codec_of(kind, request), .compressed_s = 0, .dense_s = 0};
    if (measured) TRIBUTARY_TRY(measure_codec(row.codec, request, prediction, clock));
    const MeasuredStages own = measured ? prediction.measured[row.codec]
                                        : stated_stages(kind, request, prediction.bucket_values);
    row.compressed_s = predicted_seconds(kind, request, prediction, own);
    row.dense_s =
        // The dense time of fp32 is its own time.
        row.codec == "fp32" ? row.compressed_s
                            : predicted_seconds(kind, request, prediction, dense);
    prediction.rows.push_back(std::move(row));
  }
  const auto quicker = [](const CollectiveRow& row) {
    return std::min(row.compressed_s, row.dense_s);
  };
  const auto best = std::ranges::min_element(prediction.rows, {}, quicker);
  prediction.best = static_cast<std::size_t>(best - prediction.rows.begin());
  prediction.best_is_dense = best->dense_s < best->compressed_s;
  return prediction;
}

Json measured_json(const MeasuredStages& measured) {
  Json stages = Json::array();
  for (const StagePayload& stage : measured.stages) {
    stages.push_back({{"bytes_up", stage.up_bytes},
                      {"bytes_down", stage.down_bytes},
                      {"encode_s", stage.encode_s},
                      {"aggregate_s", stage.aggregate_s}});
  }
  return {{"stages", std::move(stages)}, {"decode_s", measured.decode_s}};
}

// The closed formulas of the literature, to compare with the prediction. They ignore buckets,
// encoding and the coordinator's own rate.
Json table_one_json(const Request& request) {
  const LinkEstimate link = link_of(request, request.gbps);
  const double bytes = static_cast<double>(request.params) * 4;
  const std::uint32_t n = request.agents;
  return {{"star", table_one::star(n, bytes, link)},
          {"ring", table_one::ring(n, bytes, link)},
          {"tree", table_one::tree(n, bytes, link)},
          {"all_gather", table_one::top_k_all_gather(n, bytes * request.cr, link)},
          {"ar_topk_ring", table_one::ar_top_k_ring(n, bytes * request.cr, link)},
          {"ar_topk_tree", table_one::ar_top_k_tree(n, bytes * request.cr, link)}};
}

Json plan_json(const Request& request, const Prediction& prediction) {
  Json predicted;
  Json dense;
  Json codecs;
  for (const CollectiveRow& row : prediction.rows) {
    predicted[wire::EnumNameCollective(row.kind)] = row.compressed_s;
    dense[wire::EnumNameCollective(row.kind)] = row.dense_s;
    codecs[wire::EnumNameCollective(row.kind)] = row.codec;
  }
  Json data = {{"agents", request.agents},
               {"params", request.params},
               {"cr", request.cr},
               {"alpha_s", request.alpha_ms * 1e-3},
               {"beta_s_per_byte", link_of(request, request.gbps).beta_s_per_byte},
               {"buckets", prediction.buckets},
               {"predicted_s", predicted},
               {"codecs", codecs},
               {"dense_s", dense},
               {"choice", wire::EnumNameCollective(prediction.choice().kind)},
               {"choice_codec", prediction.best_is_dense ? "fp32" : prediction.choice().codec},
               {"table_one_s", table_one_json(request)}};
  for (const auto& [spec, measured] : prediction.measured) {
    data["measured"][spec] = measured_json(measured);
  }
  return data;
}

// The choice is the fastest entry of the table, dense columns included.
std::string plan_text(const Request& request, const Prediction& prediction) {
  Table table({"collective", "codec", "predicted", "fp32"});
  for (const CollectiveRow& row : prediction.rows) {
    table.add({wire::EnumNameCollective(row.kind), row.codec, seconds_text(row.compressed_s),
               seconds_text(row.dense_s)});
  }
  return fmt::format(
      "{} agents, {} parameters in {} buckets, {} ms, {} Gbit/s\n\n{}\nchoice: {}, {}\n",
      request.agents, count_text(request.params), prediction.buckets, request.alpha_ms,
      request.gbps, table.text(), wire::EnumNameCollective(prediction.choice().kind),
      prediction.best_is_dense ? "fp32" : prediction.choice().codec);
}

Result<Answer> plan(const Request& request, const Clock& clock) {
  TRIBUTARY_ASSIGN(const Prediction prediction, predict(request, clock));
  return Answer{.text = plan_text(request, prediction),
                .data = json_text(plan_json(request, prediction))};
}

}  // namespace

Command plan_collective_command() {
  const auto request = std::make_shared<Request>();
  return {
      .noun = "plan",
      .verb = "collective",
      .summary = "predict the time of each collective and name the fastest",
      .details =
          "With --cr below 1, collectives that add along the path use AR-Topk, the others top-k.\n"
          "Encoding, adding and decoding count only if they are measured or "
          "given.\n--codec uses one codec for all collectives and measures it like --measure.\n\n"
          "examples:\n"
          "  tributary plan collective --alpha-ms 10 --gbps 0.1 --params 25M --cr 0.01 --agents 4\n"
          "  tributary plan collective --alpha-ms 1 --gbps 10 --params 100M --agents 8 --json",
      .options = {{.name = "--alpha-ms",
                   .value_name = "MS",
                   .help = "one-way latency between agents and to the coordinator",
                   .accept = accept_real(request->alpha_ms, 0, 1e5),
                   .required = true},
                  {.name = "--gbps",
                   .value_name = "G",
                   .help = "rate of an agent's link in each direction, in Gbit/s",
                   .accept = accept_real(request->gbps, 1e-6, 1e4),
                   .required = true},
                  {.name = "--params",
                   .value_name = "M",
                   .help = "number of model parameters",
                   .accept = accept_count<std::uint64_t>(request->params, 1, 1ull << 36),
                   .required = true},
                  {.name = "--agents",
                   .value_name = "N",
                   .help = "number of agents",
                   .accept = accept_count(request->agents, 2u, kCollectiveAgentsMax),
                   .required = true},
                  {.name = "--cr",
                   .value_name = "C",
                   .help = "share of the values that is sent (1: all values, as float32)",
                   .accept = accept_real(request->cr, 1e-6, 1)},
                  {.name = "--hub-gbps",
                   .value_name = "G",
                   .help = "rate of the coordinator's link (the agents' rate)",
                   .accept = accept_real(request->hub_gbps, 1e-6, 1e4)},
                  {.name = "--bucket-values",
                   .value_name = "N",
                   .help = "values per bucket (1Mi, or less, so that each agent owns four)",
                   .accept = accept_count<std::uint64_t>(request->bucket_values, 64, 1u << 26)},
                  {.name = "--overhead",
                   .value_name = "P",
                   .help = "header bytes per payload byte, in percent (0; 4.6: TCP, MTU 1500)",
                   .accept = accept_real(request->overhead, 0, 1000)},
                  {.name = "--measure",
                   .value_name = {},
                   .help = "measure sizes and speeds of the codecs on this machine",
                   .accept = accept_flag(request->measured)},
                  {.name = "--codec",
                   .value_name = "SPEC",
                   .help = "codec for all collectives, instead of --cr; measured",
                   .accept = accept_codec(request->codec)},
                  {.name = "--cores-per-agent",
                   .value_name = "C",
                   .help = "cores per agent; below 1 if agents share cores (1)",
                   .accept = accept_real(request->cores, 1e-3, 1e3)},
                  {.name = "--message-us",
                   .value_name = "T",
                   .help = "µs of a core to send a payload, and to receive it (0)",
                   .accept = accept_real(request->message_us, 0, 1e6)},
                  {.name = "--byte-ns",
                   .value_name = "T",
                   .help = "ns of a core per payload byte, at each end (0)",
                   .accept = accept_real(request->byte_ns, 0, 1e6)},
                  {.name = "--encode-gbps",
                   .value_name = "G",
                   .help = "encoding rate of a core, in Gbit/s of float32 (not counted)",
                   .accept = accept_real(request->encode_gbps, 1e-6, 1e6)},
                  {.name = "--aggregate-gbps",
                   .value_name = "G",
                   .help = "adding rate of a core (not counted)",
                   .accept = accept_real(request->aggregate_gbps, 1e-6, 1e6)},
                  {.name = "--decode-gbps",
                   .value_name = "G",
                   .help = "decoding rate of a core (not counted)",
                   .accept = accept_real(request->decode_gbps, 1e-6, 1e6)}},
      .run = [request](World& world) { return plan(*request, world.clock); }};
}

}  // namespace tributary
