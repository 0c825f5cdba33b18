#include "core/plan/inputs_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/base/nearest.h"
#include "schemas/enum_names.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// In the order of their enumerations. The words are part of journals and must not change.
constexpr std::string_view kFamilies[] = {"fixed", "top_k", "ar_top_k"};
constexpr std::string_view kFlows[] = {"reduced", "from_root", "gathered"};

const std::vector<std::string_view>& collective_names() {
  static const auto names = wire::enum_names(kCollectives.front(), wire::Collective::in_network,
                                             wire::EnumNameCollective);
  return names;
}

const std::vector<std::string_view>& goal_names() {
  static const auto names = wire::enum_names(wire::PlanGoal::adaptive, wire::PlanGoal::byte_budget,
                                             wire::EnumNamePlanGoal);
  return names;
}

// The fields of each type. One list serves both Writer and Reader, so that they cannot differ.

template <class Fields>
void fields(Fields& f, LinkEstimate& link) {
  f.number("alpha_s", link.alpha_s);
  f.number("beta_s_per_byte", link.beta_s_per_byte);
}

template <class Fields>
void fields(Fields& f, GainPoints& gain) {
  f.numbers("ratios", gain.ratios);
  f.numbers("gains", gain.gains);
}

template <class Fields>
void fields(Fields& f, PlanStage& stage) {
  f.choice("flow", stage.flow, kFlows);
  f.number("up_bytes", stage.up_bytes);
  f.number("up_bytes_per_value", stage.up_bytes_per_value);
  f.number("down_bytes", stage.down_bytes);
  f.number("down_bytes_per_value", stage.down_bytes_per_value);
  f.number("encode_s_per_value", stage.encode_s_per_value);
  f.number("aggregate_s_per_value", stage.aggregate_s_per_value);
}

template <class Fields>
void fields(Fields& f, PlanCodec& codec) {
  f.text("spec", codec.spec);
  f.choice("family", codec.family, kFamilies);
  f.number("gain", codec.gain);
  f.number("decode_s_per_value", codec.decode_s_per_value);
  f.list("stages", codec.stages);
}

template <class Fields>
void fields(Fields& f, PlanAgent& agent) {
  f.text("name", agent.name);
  f.number("alpha_s", agent.alpha_s);
  f.number("beta_s_per_byte", agent.beta_s_per_byte);
  f.number("down_beta_s_per_byte", agent.down_beta_s_per_byte);
  f.number("weight", agent.weight);
  f.number("compute_s", agent.compute_s);
  f.one("gain", agent.gain);
  f.map_or_none("tried", agent.tried);
}

template <class Fields>
void fields(Fields& f, PlanTried& tried) {
  f.text("spec", tried.spec);
  f.count("rounds", tried.rounds);
  f.number("curve_gain", tried.curve_gain);
}

template <class Fields>
void fields(Fields& f, PlanChoice& choice) {
  f.text("codec", choice.codec);
  f.choice("collective", choice.collective, collective_names(), kCollectives.front());
  f.number("ratio", choice.ratio);
  f.count("bucket_values", choice.bucket_values);
}

template <class Fields>
void fields(Fields& f, PlanBefore& before) {
  f.one("choice", before.choice);
  f.count("rounds", before.rounds);
  f.count("agents", before.agents);
  f.one("line", before.link);
  f.one("peers", before.peers);
  f.number("exchange_s", before.exchange_s);
  f.number("gain", before.gain);
  f.numbers("ratios", before.ratios);
  f.number("down_weight", before.down_weight);
  f.map_or_none("gains", before.gains);
}

template <class Fields>
void fields(Fields& f, PlanPolicy& policy) {
  f.choice("goal", policy.goal, goal_names(), wire::PlanGoal::adaptive);
  f.number("gain_weight", policy.gain_weight);
  f.number("gain_min", policy.gain_min);
  f.number("ratio_min", policy.ratio_min);
  f.number("ratio_max", policy.ratio_max);
  f.number("hysteresis", policy.hysteresis);
  f.count("dwell_rounds", policy.dwell_rounds);
  f.number("link_change", policy.link_change);
  f.number("gain_change", policy.gain_change);
  f.number("budget_s", policy.budget_s);
  f.number("bytes_left_today", policy.bytes_left_today);
  f.number("seconds_left_today", policy.seconds_left_today);
  f.count("rounds_left", policy.rounds_left);
  f.number("exploring_share", policy.exploring_share);
  f.count("trial_rounds", policy.trial_rounds);
  f.texts_or_none("codecs", policy.codecs);
  f.choices_or_none("collectives", policy.collectives, collective_names(), kCollectives.front());
}

template <class Fields>
void fields(Fields& f, PlanInputs& inputs) {
  f.count("values", inputs.values);
  f.list("agents", inputs.agents);
  f.number("hub_beta_s_per_byte", inputs.hub_beta_s_per_byte);
  f.number("peer_alpha_s", inputs.peer_alpha_s);
  f.number("peer_beta_s_per_byte", inputs.peer_beta_s_per_byte);
  f.flag("peers_reachable", inputs.peers_reachable);
  f.flag("aggregator_present", inputs.aggregator_present);
  f.number("message_s", inputs.message_s);
  f.number("agent_slowdown", inputs.agent_slowdown);
  f.flag("settled", inputs.settled);
  f.flag("trains_ahead", inputs.trains_ahead);
  f.number("overhead_s", inputs.overhead_s);
  f.number("cores", inputs.cores);
  f.list("codecs", inputs.codecs);
  f.number("agreement", inputs.agreement);
  f.flag("own_ratios", inputs.own_ratios);
  f.retired("corrections");
  f.worlds("worlds", inputs);
  f.one("policy", inputs.policy);
  f.perhaps("before", inputs.before);
  f.list("tried", inputs.tried);
  f.count("rounds_unasked", inputs.rounds_unasked);
  f.count("asked_in_vain", inputs.asked_in_vain);
}

// Writes defaults too, so that a text keeps its meaning if defaults change later.
class Writer {
 public:
  template <class T>
  static Json written(const T& value) {
    Writer writer;
    fields(writer,
           // The same list of fields reads and writes. Writer does not modify the value.
           const_cast<T&>(value));
    return std::move(writer.json_);
  }

  void number(const char* key, double& value) { json_[key] = value; }  // NaN: null
  void numbers(const char* key, std::vector<double>& values) { json_[key] = values; }
  template <class T>
  void count(const char* key, T& value) {
    json_[key] = value;
  }
  void flag(const char* key, bool& value) { json_[key] = value; }
  void text(const char* key, std::string& value) { json_[key] = value; }
  template <class T>
  void choice(const char* key, T& value, std::span<const std::string_view> names, T first = T{}) {
    json_[key] = names[static_cast<std::size_t>(value) - static_cast<std::size_t>(first)];
  }
  template <class T>
  void one(const char* key, T& value) {
    json_[key] = written(value);
  }
  template <class T>
  void perhaps(const char* key, std::optional<T>& value) {
    if (value) one(key, *value);
  }
  template <class T>
  void list(const char* key, std::vector<T>& values) {
    Json& array = json_[key] = Json::array();
    for (T& value : values) array.push_back(written(value));
  }
  void map(const char* key, std::map<std::string, double>& values) { json_[key] = values; }
  void retired(const char*) {}
  void worlds(const char* key, PlanInputs& inputs) {
    if (inputs.worlds.empty()) return;
    Json& array = json_[key] = Json::array();
    for (const PlanWorld& world : inputs.worlds) array.push_back(logs_of(world));
  }
  // Omits an empty map. Most runs have none, and the entry would be repeated for every agent.
  void map_or_none(const char* key, std::map<std::string, double>& values) {
    if (!values.empty()) map(key, values);
  }
  // Most jobs have no such list.
  void texts_or_none(const char* key, std::vector<std::string>& values) {
    if (!values.empty()) json_[key] = values;
  }
  template <class T>
  void choices_or_none(const char* key, std::vector<T>& values,
                       std::span<const std::string_view> names, T first) {
    for (const T value : values) {
      json_[key].push_back(
          names[static_cast<std::size_t>(value) - static_cast<std::size_t>(first)]);
    }
  }

 private:
  Json json_ = Json::object();
};

// Reads the fields of one object. Keeps the first error, with its location.
class Reader {
 public:
  template <class T>
  static Status read(const Json& json, std::string where, T& value) {
    Reader reader(json, std::move(where));
    if (json.is_object()) {
      fields(reader, value);
      reader.refuse_unknown();
    } else {
      reader.fail({}, "an object", json);
    }
    return std::move(reader.status_);
  }

  void number(const char* key, double& value) {
    const Json* found = find(key);
    if (!found) return;
    if (found->is_null()) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (found->is_number()) {
      value = found->get<double>();
    } else {
      fail(key, "a number, or null", *found);
    }
  }
  void numbers(const char* key, std::vector<double>& values) {
    const Json* found = find_array(key);
    if (!found) return;
    values.clear();
    for (const Json& item : *found) {
      if (!item.is_number()) return fail(key, "numbers", item);
      values.push_back(item.get<double>());
    }
  }
  template <class T>
  void count(const char* key, T& value) {
    const Json* found = find(key);
    if (!found) return;
    if (!found->is_number_unsigned() ||
        found->get<std::uint64_t>() > std::numeric_limits<T>::max()) {
      return fail(key, "a whole number that is not negative", *found);
    }
    value = found->get<T>();
  }
  void flag(const char* key, bool& value) {
    const Json* found = find(key);
    if (!found) return;
    if (!found->is_boolean()) return fail(key, "true or false", *found);
    value = found->get<bool>();
  }
  void text(const char* key, std::string& value) {
    const Json* found = find(key);
    if (!found) return;
    if (!found->is_string()) return fail(key, "a text", *found);
    value = found->get<std::string>();
  }
  template <class T>
  void choice(const char* key, T& value, std::span<const std::string_view> names, T first = T{}) {
    if (const Json* found = find(key)) one_of(key, *found, value, names, first);
  }
  template <class T>
  void choices_or_none(const char* key, std::vector<T>& values,
                       std::span<const std::string_view> names, T first) {
    const Json* found = find_array(key);
    if (!found) return;
    values.clear();
    for (const Json& item : *found) one_of(key, item, values.emplace_back(first), names, first);
  }
  void texts_or_none(const char* key, std::vector<std::string>& values) {
    const Json* found = find_array(key);
    if (!found) return;
    values.clear();
    for (const Json& item : *found) {
      if (!item.is_string()) return fail(key, "texts", item);
      values.push_back(item.get<std::string>());
    }
  }
  template <class T>
  void one(const char* key, T& value) {
    if (const Json* found = find(key)) take(read(*found, where_ + key + ".", value));
  }
  template <class T>
  void perhaps(const char* key, std::optional<T>& value) {
    if (json_.contains(key)) one(key, value.emplace());
  }
  template <class T>
  void list(const char* key, std::vector<T>& values) {
    const Json* found = find_array(key);
    if (!found) return;
    values.clear();
    for (const Json& item : *found) {
      const std::string where = fmt::format("{}{}[{}].", where_, key, values.size());
      take(read(item, where, values.emplace_back()));
      if (!status_.ok()) return;
    }
  }
  void map(const char* key, std::map<std::string, double>& values) {
    const Json* found = find(key);
    if (!found) return;
    if (!found->is_object()) return fail(key, "an object", *found);
    values.clear();
    for (const auto& [name, item] : found->items()) {
      if (!item.is_number()) return fail(key, "numbers", item);
      values[name] = item.template get<double>();
    }
  }
  void map_or_none(const char* key, std::map<std::string, double>& values) { map(key, values); }
  // A key of earlier releases, whose value has no meaning any more.
  void retired(const char* key) { find(key); }
  // Requires that agents and codecs were read before, because the length follows from them.
  void worlds(const char* key, PlanInputs& inputs) {
    const Json* found = find_array(key);
    if (!found) return;
    inputs.worlds.clear();
    std::vector<int> logs;
    for (const Json& item : *found) {
      logs.clear();
      for (const Json& log : item) {
        if (!log.is_number_integer()) return fail(key, "whole numbers", log);
        logs.push_back(log.get<int>());
      }
      if (!world_of(logs, inputs.agents.size(), inputs.codecs.size(),
                    inputs.worlds.emplace_back())) {
        return fail(key, "a value for every link and codec", item);
      }
    }
  }

 private:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  // Every key that is looked up is a known one; refuse_unknown() then refuses all others, since a
  // misspelled key would silently leave a default.
  const Json* find(const char* key) {
    known_.push_back(key);
    const auto found = json_.find(key);
    return found == json_.end() || !status_.ok() ? nullptr : &*found;
  }
  const Json* find_array(const char* key) {
    const Json* found = find(key);
    if (!found || found->is_array()) return found;
    fail(key, "an array", *found);
    return nullptr;
  }
  template <class T>
  void one_of(const char* key, const Json& json, T& value, std::span<const std::string_view> names,
              T first) {
    for (std::size_t i = 0; json.is_string() && i < names.size(); ++i) {
      if (json.get_ref<const std::string&>() != names[i]) continue;
      value = wire::enum_value(first, i);
      return;
    }
    fail(key, fmt::format("{}", fmt::join(names, " or ")), json);
  }
  void refuse_unknown() {
    for (const auto& [key, value] : json_.items()) {
      if (std::ranges::find(known_, key) != known_.end()) continue;
      take(Status(StatusCode::invalid_argument, {.what = where_ + key,
                                                 .expected = "a key that is known",
                                                 .got = "another one",
                                                 .remedy = did_you_mean(key, known_)}));
    }
  }
  void fail(std::string_view key, std::string expected, const Json& got) {
    take(Status(StatusCode::invalid_argument,
                {.what = where_ + std::string(key),
                 .expected = std::move(expected),
                 .got = got.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 80)}));
  }
  void take(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const Json& json_;
  const std::string where_;
  std::vector<std::string_view> known_;
  Status status_;
};

// The parser recurses into nested values, so the depth is bounded before it runs. Valid texts are
// less deep.
bool too_deep(std::string_view text) {
  constexpr int kDepthMax = 16;
  int depth = 0;
  for (const char c : text) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (depth > kDepthMax) return true;
  }
  return false;
}

// An error of the text as a whole; errors of a field name its key.
Status unreadable(std::string expected, std::string got) {
  return Status(
      StatusCode::invalid_argument,
      {.what = "the inputs of a plan", .expected = std::move(expected), .got = std::move(got)});
}

}  // namespace

std::string text_of(const PlanInputs& inputs) { return Writer::written(inputs).dump(); }

// Bounds size and depth before the parser runs, because the text may come from any file. Missing
// keys keep their defaults, so texts of earlier builds can be read.
Result<PlanInputs> parse_plan_inputs(std::string_view text) {
  if (text.size() > kPlanInputsBytesMax) {
    return unreadable(fmt::format("at most {} bytes", kPlanInputsBytesMax),
                      fmt::format("{}", text.size()));
  }
  if (too_deep(text)) return unreadable("an object", "a text that nests too deeply");
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) return unreadable("JSON", "a text that is not JSON");
  PlanInputs inputs;
  TRIBUTARY_TRY(Reader::read(json, {}, inputs));
  TRIBUTARY_TRY(check(inputs));
  return inputs;
}

}  // namespace tributary
