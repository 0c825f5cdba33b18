#include "bench/plan/table_six.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/cost/table_one.h"

namespace tributary::bench {
namespace {

constexpr std::uint32_t kWorkers = 8;
constexpr double kAlpha_s = 1e-3;
constexpr std::string_view kGather = "AG";
constexpr std::string_view kRing = "ART-Ring";
constexpr std::string_view kTree = "ART-Tree";

struct Model {
  std::string_view name;
  double parameters;
  std::array<std::string_view, 9> quickest;  // in the paper: by bandwidth, then by ratio
};

// Numbers of parameters as published with the models.
constexpr Model kModels[] = {
    {"ResNet18", 11.7e6, {kRing, kGather, kGather, kRing, kGather, kGather, kRing, kRing, kGather}},
    {"ResNet50", 25.6e6, {kRing, kGather, kGather, kRing, kTree, kGather, kRing, kRing, kGather}},
    {"AlexNet", 61.1e6, {kRing, kRing, kGather, kRing, kRing, kGather, kRing, kRing, kRing}},
    {"ViT", 86.6e6, {kRing, kRing, kGather, kRing, kRing, kGather, kRing, kRing, kRing}}};

// The cheapest of the three by the paper's formulas.
std::string_view predicted(double parameters, double gbps, double ratio) {
  const LinkEstimate link = {.alpha_s = kAlpha_s, .beta_s_per_byte = 8e-9 / gbps};
  const double kept = parameters * 4 * ratio;
  const std::pair<double, std::string_view> costs[] = {
      {table_one::top_k_all_gather(kWorkers, kept, link), kGather},
      {table_one::ar_top_k_ring(kWorkers, kept, link), kRing},
      {table_one::ar_top_k_tree(kWorkers, kept, link), kTree}};
  return std::ranges::min_element(costs)->second;
}

}  // namespace

std::vector<TableSixRow> table_six() {
  std::vector<TableSixRow> rows;
  for (const Model& model : kModels) {
    std::size_t place = 0;
    for (const double gbps : {10.0, 5.0, 1.0}) {
      for (const double ratio : {0.1, 0.01, 0.001}) {
        rows.push_back({.model = model.name,
                        .gbps = gbps,
                        .ratio = ratio,
                        .measured = model.quickest[place++],
                        .predicted = predicted(model.parameters, gbps, ratio)});
      }
    }
  }
  return rows;
}

}  // namespace tributary::bench
