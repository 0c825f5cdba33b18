// tributary plan collective
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/cost/exchange_cost.h"
#include "core/cost/stage_sizes.h"
#include "core/cost/table_one.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kAgentsMax = 1024;
constexpr std::uint64_t kBucketValues = 1u << 20;
constexpr std::uint64_t kBucketsEach = 4;  // that every agent owns, where the model is small

struct Request {
  double alpha_ms = 0;
  double gbps = 0;
  double hub_gbps = 0;  // 0: as the agents'
  std::uint64_t params = 0;
  double cr = 1;
  std::uint32_t agents = 0;
  std::uint64_t bucket_values = 0;  // 0: chosen
};

struct Row {
  ExchangeKind kind;
  std::string codec;
  double compressed_s;
  double dense_s;
};

struct Prediction {
  std::uint32_t buckets = 1;
  double bucket_values = 0;
  std::vector<Row> rows;  // in the order of kExchangeKinds
  const Row* best = nullptr;
  bool best_is_dense = false;
};

Accept accept_real(double& target, double low, double high) {
  return [&target, low, high](const std::string& value) -> Status {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = error == std::errc() && end == value.data() + value.size();
    if (whole && number >= low && number <= high) {
      target = number;
      return {};
    }
    return Status(StatusCode::invalid_argument,
                  {.what = "value",
                   .expected = fmt::format("a number from {} to {}", low, high),
                   .got = fmt::format("'{}'", value)});
  };
}

LinkEstimate link_of(double alpha_ms, double gbps) {
  return {.alpha_s = alpha_ms * 1e-3, .beta_s_per_byte = 8e-9 / gbps};
}

// Where partial sums are made, agents must agree on places; where all payloads are seen, they need
// not.
bool sums(ExchangeKind kind) {
  return kind != ExchangeKind::star && kind != ExchangeKind::all_gather;
}

std::string codec_of(ExchangeKind kind, double cr) {
  if (cr >= 1) return "fp32";
  return fmt::format("{}:cr={}", sums(kind) ? "star_topk" : "topk", cr);
}

double seconds(ExchangeKind kind, const Request& request, const Prediction& prediction,
               const std::vector<StagePayload>& stages) {
  const LinkEstimate agents = link_of(request.alpha_ms, request.gbps);
  const LinkEstimate hub =
      link_of(request.alpha_ms, request.hub_gbps > 0 ? request.hub_gbps : request.gbps);
  return predict_exchange(
             kind, {.agents = request.agents, .buckets = prediction.buckets, .stages = stages},
             {.agents = agents, .hub = hub})
      .seconds;
}

std::uint64_t bucket_values(const Request& request) {
  if (request.bucket_values > 0) return std::min(request.bucket_values, request.params);
  const std::uint64_t shares = kBucketsEach * request.agents;
  return std::clamp<std::uint64_t>((request.params + shares - 1) / shares, 1, kBucketValues);
}

Prediction predict(const Request& request) {
  Prediction prediction;
  const std::uint64_t values = bucket_values(request);
  prediction.buckets = static_cast<std::uint32_t>((request.params + values - 1) / values);
  prediction.bucket_values = static_cast<double>(request.params) / prediction.buckets;
  const auto dense = dense_stages(prediction.bucket_values);
  const auto own = top_k_stages(prediction.bucket_values, request.cr, request.agents);
  const auto agreed = ar_top_k_stages(prediction.bucket_values, request.cr);
  for (const ExchangeKind kind : kExchangeKinds) {
    const double dense_s = seconds(kind, request, prediction, dense);
    const double compressed_s =
        request.cr >= 1 ? dense_s : seconds(kind, request, prediction, sums(kind) ? agreed : own);
    prediction.rows.push_back({kind, codec_of(kind, request.cr), compressed_s, dense_s});
  }
  const auto quicker = [](const Row& row) { return std::min(row.compressed_s, row.dense_s); };
  prediction.best = &*std::ranges::min_element(prediction.rows, {}, quicker);
  prediction.best_is_dense = prediction.best->dense_s < prediction.best->compressed_s;
  return prediction;
}

Json table_one_json(const Request& request) {
  const LinkEstimate link = link_of(request.alpha_ms, request.gbps);
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
  for (const Row& row : prediction.rows) {
    predicted[name(row.kind)] = row.compressed_s;
    dense[name(row.kind)] = row.dense_s;
    codecs[name(row.kind)] = row.codec;
  }
  return {{"agents", request.agents},
          {"params", request.params},
          {"cr", request.cr},
          {"alpha_s", request.alpha_ms * 1e-3},
          {"beta_s_per_byte", 8e-9 / request.gbps},
          {"buckets", prediction.buckets},
          {"predicted_s", predicted},
          {"codecs", codecs},
          {"dense_s", dense},
          {"choice", name(prediction.best->kind)},
          {"choice_codec", prediction.best_is_dense ? "fp32" : prediction.best->codec},
          {"table_one_s", table_one_json(request)}};
}

std::string plan_text(const Request& request, const Prediction& prediction) {
  Table table({"collective", "codec", "predicted", "fp32"});
  for (const Row& row : prediction.rows) {
    table.add({std::string(name(row.kind)), row.codec, seconds_text(row.compressed_s),
               seconds_text(row.dense_s)});
  }
  return fmt::format(
      "{} agents, {} parameters in {} buckets, {} ms, {} Gbit/s\n\n{}\nchoice: {}, {}\n",
      request.agents, count_text(request.params), prediction.buckets, request.alpha_ms,
      request.gbps, table.text(), name(prediction.best->kind),
      prediction.best_is_dense ? "fp32" : prediction.best->codec);
}

Result<Answer> plan(const Request& request) {
  const Prediction prediction = predict(request);
  return Answer{.text = plan_text(request, prediction),
                .data = json_text(plan_json(request, prediction))};
}

}  // namespace

Command plan_collective_command() {
  const auto request = std::make_shared<Request>();
  return {
      .noun = "plan",
      .verb = "collective",
      .summary = "how long each exchange would take, and which is the quickest",
      .details =
          "With --cr below 1, exchanges that add on the way take AR-Topk, the others top-k.\n"
          "Latency is one way. Time to encode and decode is not in it.\n\n"
          "examples:\n"
          "  tributary plan collective --alpha-ms 10 --gbps 0.1 --params 25M --cr 0.01 --agents 4\n"
          "  tributary plan collective --alpha-ms 1 --gbps 10 --params 100M --agents 8 --json",
      .options = {{.name = "--alpha-ms",
                   .value_name = "MS",
                   .help = "from an agent to another, or to the coordinator",
                   .accept = accept_real(request->alpha_ms, 0, 1e5),
                   .required = true},
                  {.name = "--gbps",
                   .value_name = "G",
                   .help = "rate of an agent's line, 10^9 bits a second, each way",
                   .accept = accept_real(request->gbps, 1e-6, 1e4),
                   .required = true},
                  {.name = "--params",
                   .value_name = "M",
                   .help = "parameters of the model",
                   .accept = accept_count<std::uint64_t>(request->params, 1, 1ull << 36),
                   .required = true},
                  {.name = "--agents",
                   .value_name = "N",
                   .help = "agents",
                   .accept = accept_count(request->agents, 2u, kAgentsMax),
                   .required = true},
                  {.name = "--cr",
                   .value_name = "C",
                   .help = "share of the values that is sent (1: all, as float32)",
                   .accept = accept_real(request->cr, 1e-6, 1)},
                  {.name = "--hub-gbps",
                   .value_name = "G",
                   .help = "rate of the coordinator's line (as the agents')",
                   .accept = accept_real(request->hub_gbps, 1e-6, 1e4)},
                  {.name = "--bucket-values",
                   .value_name = "N",
                   .help = "values in a bucket (1Mi, or less, so that an agent owns four)",
                   .accept = accept_count<std::uint64_t>(request->bucket_values, 64, 1u << 26)}},
      .run = [request](World&) { return plan(*request); }};
}

}  // namespace tributary
