#include "core/run/mechanisms.h"

#include <algorithm>
#include <string_view>

#include "schemas/walk.h"

namespace tributary {
namespace {

// Bounds what a hostile file can make of one row.
constexpr std::size_t kMechanismsBytesMax = 64u << 10;
constexpr std::size_t kMechanismsMax = 512;
constexpr std::size_t kTallyTextBytesMax = 256;
constexpr std::string_view kMillibitsByLayer = "millibits_by_layer";

// Adds an entry per number. Those of a tally have the name of its list.
class MechanismList {
 public:
  template <typename Number>
  Status number(const wire::Place& place, Number value) {
    const bool tally = place.outer->item != wire::Place::kNoItem;
    const wire::Place& field = tally ? *place.outer->outer : place;
    add(field.name, tally ? of_ : std::string(), static_cast<double>(value));
    return {};
  }
  Status text(const wire::Place& /*place*/, std::string_view text) {
    of_ = text.substr(0, kTallyTextBytesMax);
    return {};
  }
  Status list(const wire::Place& /*place*/, ByteSpan /*bytes*/, std::size_t /*alignment*/) {
    return {};
  }
  std::vector<Mechanism> release() { return std::move(all_); }

 private:
  void add(const char* name, std::string of, double value) {
    if (all_.size() >= kMechanismsMax) return;
    all_.push_back({.name = name, .of = std::move(of), .value = value});
  }

  std::string of_;
  std::vector<Mechanism> all_;
};

// Empty for missing, too large or damaged bytes: a row without mechanisms is still a row.
template <typename Table>
std::vector<Mechanism> list_of(const SharedBytes& packed) {
  if (!packed || packed->size() > kMechanismsBytesMax) return {};
  flatbuffers::Verifier verifier(packed->data(), packed->size());
  if (!verifier.VerifyBuffer<Table>(nullptr)) return {};
  MechanismList list;
  const wire::Place root{.name = Table::Traits::name};
  ignore_error(wire::walk(*flatbuffers::GetRoot<Table>(packed->data()), root, list));
  return list.release();
}

}  // namespace

std::vector<Mechanism> mechanisms_of_agent(const SharedBytes& packed) {
  return list_of<wire::Mechanisms>(packed);
}

std::vector<Mechanism> mechanisms_of_round(const SharedBytes& packed) {
  return list_of<wire::RoundMechanisms>(packed);
}

std::vector<LayerBits> bits_by_layer(const std::vector<rows::AgentInRoundT>& agents) {
  std::vector<LayerBits> layers;
  for (const rows::AgentInRoundT& agent : agents) {
    for (const Mechanism& mechanism : agent.mechanisms) {
      if (mechanism.name == kMillibitsByLayer) {
        layers.push_back({mechanism.of, mechanism.value / 1000});
      }
    }
    if (!layers.empty()) break;
  }
  return layers;
}

// In the order in which mechanisms first appear.
std::vector<MechanismRange> ranges_of_agents(const std::vector<rows::AgentInRoundT>& agents) {
  std::vector<MechanismRange> ranges;
  for (const rows::AgentInRoundT& agent : agents) {
    for (const Mechanism& mechanism : agent.mechanisms) {
      if (mechanism.name == kMillibitsByLayer) continue;
      const auto known = std::ranges::find_if(ranges, [&](const MechanismRange& range) {
        return range.name == mechanism.name && range.of == mechanism.of;
      });
      if (known == ranges.end()) {
        if (ranges.size() < kMechanismsMax)
          ranges.push_back({mechanism.name, mechanism.of, mechanism.value, mechanism.value});
      } else {
        known->low = std::min(known->low, mechanism.value);
        known->high = std::max(known->high, mechanism.value);
      }
    }
  }
  return ranges;
}

}  // namespace tributary
