#include "cli/run/round_mechanisms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/text.h"
#include "core/run/mechanisms.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Counters are stored as doubles. Below 1e15 every whole number is exact, so it is written without
// a decimal point.
Json number_json(double value) {
  return value == std::floor(value) && value < 1e15 ? Json(static_cast<std::uint64_t>(value))
                                                    : Json(value);
}

// A mechanism that applies to something (an agent, a codec) becomes an object with one entry for
// each.
Json facts_json(const std::vector<Mechanism>& facts) {
  Json json = Json::object();
  for (const Mechanism& mechanism : facts) {
    if (mechanism.of.empty()) {
      json[mechanism.name] = number_json(mechanism.value);
    } else {
      json[mechanism.name][mechanism.of] = number_json(mechanism.value);
    }
  }
  return json;
}

std::string number_text(double value) {
  return value == std::floor(value) && value < 1e15 ? count_text(static_cast<std::uint64_t>(value))
                                                    : fmt::format("{:.2f}", value);
}

// For example "buckets by codec thc:bits=4 5".
void add_fact(std::string& text, std::string_view name, std::string_view of,
              const std::string& value) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  text +=
      fmt::format("{}{}{}{} {}", text.empty() ? "" : ", ", words, of.empty() ? "" : " ", of, value);
}

}  // namespace

Json mechanisms_json(const RoundDetail& detail) {
  Json agents = Json::object();
  for (const AgentInRound& agent : detail.agents) {
    if (!agent.mechanisms.empty()) agents[agent.agent_id] = facts_json(agent.mechanisms);
  }
  Json json = {{"round", detail.round},
               {"attempt", detail.attempt},
               {"coordinator", facts_json(detail.mechanisms)},
               {"agents", std::move(agents)}};
  for (const LayerBits& layer : bits_by_layer(detail.agents)) {
    json["bits_by_layer"][layer.layer] = layer.bits;
  }
  return json;
}

// Mechanisms that did not act in this round are left out.
std::string coordinator_mechanisms_text(const RoundDetail& detail) {
  std::string text;
  for (const Mechanism& mechanism : detail.mechanisms) {
    if (mechanism.value != 0)
      add_fact(text, mechanism.name, mechanism.of, number_text(mechanism.value));
  }
  return text;
}

// The range over the agents, for example "mantissa bits dropped 12.50 to 18".
std::string agents_mechanisms_text(const RoundDetail& detail) {
  std::string text;
  for (const MechanismRange& range : ranges_of_agents(detail.agents)) {
    if (range.high == 0) continue;
    add_fact(text, range.name, range.of,
             range.low == range.high
                 ? number_text(range.low)
                 : fmt::format("{} to {}", number_text(range.low), number_text(range.high)));
  }
  return text;
}

}  // namespace tributary
