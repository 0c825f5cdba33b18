#include "dashboard/pages/plan/plan_inputs.h"

#include <nlohmann/json.hpp>

#include "core/base/bytes/bytes.h"
#include "dashboard/pages/common/texts.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {
namespace {

using InputsJson = nlohmann::ordered_json;

// Longer lists of numbers are cut to this many.
constexpr int kNumbersInLine = 8;

// The value is shown with its unit, so the suffix of the name is redundant.
QString cut_suffix(QString name) {
  for (const char* suffix : {"_s_per_byte", "_s_per_value", "_s"}) {
    if (name.endsWith(suffix)) return name.chopped(static_cast<qsizetype>(qstrlen(suffix)));
  }
  return name;
}

// Visits the JSON document in its own order and adds one line per value.
class InputsReading {
 public:
  InputsReading(std::vector<PlanInput>& inputs, std::size_t& left_out)
      : inputs_(inputs), left_out_(left_out) {}

  void read(const InputsJson& node, const QString& where, const QString& name) {
    if (node.is_object()) {
      read_object(node, where, name);
    } else if (node.is_array()) {
      read_array(node, where, name);
    } else {
      add(where, name, value_text(node, name));
    }
  }

 private:
  void read_object(const InputsJson& node, const QString& where, const QString& name) {
    QString inside = joined(where, name);
    for (const char* title : {"name", "spec"}) {
      const auto found = node.find(title);
      if (found == node.end() || !found->is_string()) continue;
      inside = joined(inside, plain_text(found->get_ref<const std::string&>()));
      break;
    }
    for (const auto& each : node.items()) {
      if (each.key() == "name" || each.key() == "spec") continue;
      read(each.value(), inside, plain_text(each.key()));
    }
  }

  void read_array(const InputsJson& node, const QString& where, const QString& name) {
    const bool numbers =
        std::ranges::all_of(node, [](const auto& item) { return item.is_number(); });
    if (!numbers) {
      for (std::size_t i = 0; i < node.size(); ++i) {
        const bool named =
            node[i].is_object() && (node[i].contains("name") || node[i].contains("spec"));
        read(node[i], where, named ? name : name + ' ' + QString::number(i + 1));
      }
      return;
    }
    QString line;
    for (std::size_t i = 0; i < node.size() && i < kNumbersInLine; ++i) {
      line += (i > 0 ? ", " : "") + value_text(node[i], name);
    }
    add(where, name, node.size() > kNumbersInLine ? line + ", …" : line);
  }

  static QString joined(const QString& where, const QString& name) {
    if (where.isEmpty() || name.isEmpty()) return where + name;
    return where + ' ' + name;
  }

  static QString value_text(const InputsJson& node, const QString& name) {
    if (node.is_number()) return input_value(name, node.get<double>());
    if (node.is_string()) return plain_text(node.get_ref<const std::string&>());
    return plain_text(node.dump());
  }

  void add(const QString& where, const QString& name, const QString& value) {
    if (inputs_.size() >= kPlanInputsMax) {
      ++left_out_;
      return;
    }
    const QString words = cut_suffix(name).replace('_', ' ');
    const QString shown = where.isEmpty() ? words : where + ": " + words;
    inputs_.push_back({.name = shown.toStdString(), .value = value.toStdString()});
  }

  std::vector<PlanInput>& inputs_;
  std::size_t& left_out_;
};

QString observed_value(const PlanObservation& observation) {
  if (observation.unit == "seconds") return text_of(Unit::seconds, observation.value);
  if (observation.unit == "bytes") return text_of(Unit::bytes, observation.value);
  if (observation.unit == "celsius") return text_of(Unit::celsius, observation.value);
  if (observation.unit == "watts") return text_of(Unit::watts, observation.value);
  if (observation.unit == "bytes_per_second") {
    return text_of(Unit::bytes_per_second, observation.value);
  }
  if (observation.unit == "seconds_per_byte") return input_value("_s_per_byte", observation.value);
  const QString number = text_of(Unit::one, observation.value);
  return observation.unit == "one" ? number : number + ' ' + words_of(observation.unit);
}

}  // namespace

QString input_value(const QString& name, double value) {
  if (name.endsWith("_s_per_byte") && value > 0) {
    return text_of(Unit::bits_per_second, bits_per_second(value));
  }
  if (name.endsWith("_s_per_value")) return text_of(Unit::seconds, value) + " per value";
  if (name.endsWith("_s")) return text_of(Unit::seconds, value);
  return text_of(Unit::one, value);
}

std::vector<PlanInput> plan_inputs_of(const RoundDetail& detail) {
  std::vector<PlanInput> inputs;
  std::size_t left_out = 0;
  for (const PlanObservation& observation : detail.observations) {
    if (inputs.size() >= kPlanInputsMax) {
      ++left_out;
      continue;
    }
    const QString observer =
        observation.agent_id.empty() ? "coordinator" : plain_text(observation.agent_id);
    inputs.push_back(
        {.name = "observed " + words_of(observation.name).toStdString(),
         .value = observed_value(observation).toStdString(),
         .about =
             (observer + ", " + text_of(Unit::seconds, observation.age_s) + " old").toStdString()});
  }
  if (!detail.inputs.empty()) {
    const InputsJson json = InputsJson::parse(detail.inputs, nullptr, false);
    if (json.is_discarded()) {
      inputs.push_back(
          {.name = "inputs (not valid JSON)", .value = std::string(as_text(detail.inputs))});
    } else {
      InputsReading(inputs, left_out).read(json, {}, {});
    }
  }
  if (left_out > 0) {
    inputs.push_back({.name = grouped(left_out).toStdString() + " more, not shown"});
  }
  return inputs;
}

}  // namespace tributary::dashboard
