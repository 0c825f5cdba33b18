#include "cli/fusion/profile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/base/nearest.h"

namespace tributary {
namespace {

using PlainJson = nlohmann::json;
using Names = std::span<const std::string_view>;

// Bounds of the input, which may come from another machine.
constexpr int kDepthMax = 2;  // lists and costs contain only numbers
// A ratio above 1 is possible, because a payload may be larger than its tensors, but not far above.
constexpr double kRatioMax = 64;
constexpr std::size_t kShownMax = 160;  // of text from the input

Status refuse(std::string what, std::string expected, std::string got, std::string remedy = {}) {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = std::move(expected),
                                               .got = std::move(got),
                                               .remedy = std::move(remedy)});
}

// A short description of a value for an error message. Structured values could be very long.
std::string shown(const PlainJson& json) {
  if (json.is_structured()) return json.is_array() ? "a list" : "an object";
  return json.dump(-1, ' ', true, PlainJson::error_handler_t::replace).substr(0, kShownMax);
}

// Returns the message without the library's error number, which precedes it in brackets.
std::string message_of(const PlainJson::exception& error) {
  const std::string_view text = error.what();
  const std::size_t number_end = text.find("] ");
  return std::string(text.substr(number_end == text.npos ? 0 : number_end + 2, kShownMax));
}

// Detects duplicate keys and deep nesting, which the parsed document no longer shows.
class Reader {
 public:
  bool operator()(int depth, PlainJson::parse_event_t event, PlainJson& parsed) {
    too_deep_ = too_deep_ || depth > kDepthMax;
    if (event == PlainJson::parse_event_t::object_start) keys_.clear();
    if (event == PlainJson::parse_event_t::key) {
      const std::string key = parsed.get<std::string>();
      std::set<std::string>& seen = depth == 1 ? top_keys_ : keys_;
      if (!seen.insert(key).second && twice_.empty()) twice_ = key;
    }
    return depth <= kDepthMax;
  }

  Result<PlainJson> read(ByteSpan text) {
    PlainJson json;
    try {
      json = PlainJson::parse(text.begin(), text.end(), std::ref(*this));
    } catch (const PlainJson::exception& error) {
      return Status(StatusCode::corrupt_data, {.what = "profile",
                                               .expected = "JSON",
                                               .got = message_of(error),
                                               .remedy = "see docs/fusion.md"});
    }
    if (!json.is_object() || too_deep_) {
      return refuse("profile", "an object of lists and costs",
                    too_deep_ ? "a deeper one" : shown(json), "see docs/fusion.md");
    }
    if (!twice_.empty()) {
      return refuse(fmt::format("key '{}'", twice_.substr(0, kShownMax)), "each key once",
                    "a duplicate");
    }
    return json;
  }

 private:
  bool too_deep_ = false;
  std::string twice_;
  std::set<std::string> top_keys_;
  std::set<std::string> keys_;  // of the current inner object
};

// The first `needed` keys of `known` must be present.
Status check_keys(const PlainJson& object, std::string_view place, Names known,
                  std::size_t needed) {
  const auto named = [place](std::string_view key) {
    return fmt::format("key '{}{}'", place, key.substr(0, kShownMax));
  };
  for (const auto& item : object.items()) {
    if (std::ranges::find(known, item.key()) != known.end()) continue;
    return refuse(named(item.key()), fmt::format("{}", fmt::join(known, ", ")), "an unknown one",
                  did_you_mean(item.key().substr(0, kShownMax), known));
  }
  for (const std::string_view key : known.first(needed)) {
    if (!object.contains(std::string(key))) return refuse(named(key), "a value", "none");
  }
  return {};
}

// Whether the number is finite and within its bounds is checked later, by check_fusion_profile().
Status read_number(const PlainJson& json, std::string place, double& number) {
  if (!json.is_number()) return refuse(std::move(place), "a number", shown(json));
  number = json.get<double>();
  return {};
}

Status read_numbers(const PlainJson& profile, const std::string& key,
                    std::vector<double>& numbers) {
  const PlainJson& list = profile[key];
  if (!list.is_array()) return refuse(key, "a list of numbers", shown(list));
  numbers.reserve(list.size());
  for (const PlainJson& each : list) {
    double number = 0;
    TRIBUTARY_TRY(read_number(each, fmt::format("{}[{}]", key, numbers.size()), number));
    numbers.push_back(number);
  }
  return {};
}

// `extra` is an optional third key.
Status read_cost(const PlainJson& profile, const std::string& key, std::string_view extra,
                 StageCost& cost, double* extra_number) {
  const PlainJson& json = profile[key];
  if (!json.is_object()) {
    return refuse(key, "an object with alpha_s and beta_s_per_byte", shown(json));
  }
  const std::array<std::string_view, 3> known = {"alpha_s", "beta_s_per_byte", extra};
  TRIBUTARY_TRY(check_keys(json, key + ".", Names(known).first(extra.empty() ? 2 : 3), 2));
  TRIBUTARY_TRY(read_number(json["alpha_s"], key + ".alpha_s", cost.alpha_s));
  TRIBUTARY_TRY(
      read_number(json["beta_s_per_byte"], key + ".beta_s_per_byte", cost.beta_s_per_byte));
  const auto third = json.find(std::string(extra));
  if (third == json.end()) return {};
  return read_number(*third, fmt::format("{}.{}", key, extra), *extra_number);
}

// The profile counts uncompressed bytes, so the ratio becomes a part of the time per byte.
Status read_network(const PlainJson& json, StageCost& network) {
  double ratio = 1;
  TRIBUTARY_TRY(read_cost(json, "network", "ratio", network, &ratio));
  if (!(ratio > 0 && ratio <= kRatioMax)) {
    return refuse("network.ratio", fmt::format("a number above 0 and up to {}", kRatioMax),
                  fmt::format("{}", ratio), "divide the bytes sent by the bytes of the tensors");
  }
  network.beta_s_per_byte *= ratio;
  return {};
}

// The number of agents is that of the payloads that each agent decodes.
Status read_decode(const PlainJson& json, FusionProfile& profile) {
  double agents = 1;
  TRIBUTARY_TRY(read_cost(json, "decode", "agents", profile.decode, &agents));
  if (!(agents >= 1 && agents <= kFusionAgentsMax && agents == std::floor(agents))) {
    return refuse("decode.agents", fmt::format("a whole number from 1 to {}", kFusionAgentsMax),
                  fmt::format("{}", agents));
  }
  profile.decode_agents = static_cast<std::uint32_t>(agents);
  return {};
}

}  // namespace

// From the outside in: size, JSON, keys, numbers, and finally the profile as a whole.
Result<FusionProfile> parse_fusion_profile(ByteSpan text) {
  if (text.size() > kFusionTextBytesMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "profile",
                   .expected = fmt::format("up to {} bytes", kFusionTextBytesMax),
                   .got = fmt::format("{}", text.size())});
  }
  TRIBUTARY_ASSIGN(const PlainJson json, Reader().read(text));
  constexpr std::array<std::string_view, 5> kKeys = {"backward_s", "bytes", "compress", "network",
                                                     "decode"};
  TRIBUTARY_TRY(check_keys(json, "", kKeys, kKeys.size() - 1));
  FusionProfile profile;
  TRIBUTARY_TRY(read_numbers(json, "backward_s", profile.backward_s));
  TRIBUTARY_TRY(read_numbers(json, "bytes", profile.bytes));
  TRIBUTARY_TRY(read_cost(json, "compress", "", profile.compress, nullptr));
  TRIBUTARY_TRY(read_network(json, profile.network));
  if (json.contains("decode")) TRIBUTARY_TRY(read_decode(json, profile));
  TRIBUTARY_TRY(check_fusion_profile(profile));
  return profile;
}

}  // namespace tributary
