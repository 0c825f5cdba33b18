#include "core/round/agent/round/layer_bits.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace tributary {
namespace {

// Bounds the facts of a round, whatever the names of the layers are.
constexpr std::size_t kNameBytesMax = 96;

struct NamedBits {
  const Layer* first;
  const Layer* last;
  double values;
  double bits;
};

// A layer may lie in several buckets.
std::vector<NamedBits> by_layer(const RoundPlan& plan, const LayerMap& layers,
                                const EncodingFacts& facts) {
  std::vector<NamedBits> all;
  for (const auto& [place, part] : facts.layer_bits) {
    if (place.first >= plan.buckets().size()) continue;
    const Layer* const layer =
        layers.at_offset(plan.buckets()[place.first].first_value + place.second);
    if (layer == nullptr) continue;
    if (all.empty() || all.back().last != layer) all.push_back({layer, layer, 0, 0});
    all.back().values += part.values;
    all.back().bits += static_cast<double>(part.bits);
  }
  return all;
}

std::string name_of(const NamedBits& group) {
  std::string name = group.first->name.substr(0, kNameBytesMax);
  if (group.last != group.first) name += " to " + group.last->name.substr(0, kNameBytesMax);
  return name;
}

}  // namespace

Tallies millibits_by_layer(const RoundPlan& plan, const LayerMap& layers,
                           const EncodingFacts& facts) {
  const std::vector<NamedBits> all = by_layer(plan, layers, facts);
  const std::size_t each = std::max<std::size_t>(1, (all.size() + kTalliesMax - 1) / kTalliesMax);
  Tallies tallies;
  for (std::size_t begin = 0; begin < all.size(); begin += each) {
    NamedBits group = all[begin];
    for (std::size_t i = begin + 1; i < std::min(begin + each, all.size()); ++i) {
      group.last = all[i].last;
      group.values += all[i].values;
      group.bits += all[i].bits;
    }
    const double mean = group.values > 0 ? 1000 * group.bits / group.values : 0;
    add_to_tally(tallies, name_of(group), static_cast<std::uint64_t>(std::llround(mean)));
  }
  return tallies;
}

}  // namespace tributary
