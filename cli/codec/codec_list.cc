// tributary codec list: describes every codec and its parameters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// These names are part of the JSON output and must not change.
std::string_view kind_name(ParamKind kind) {
  switch (kind) {
    case ParamKind::integer:
      return "integer";
    case ParamKind::power_of_two:
      return "power_of_two";
    case ParamKind::real:
      return "real";
    case ParamKind::choice:
      return "choice";
  }
  return "unknown";
}

// Numbers of integer kinds have no decimal point. The registry's defaults are valid numbers, so the
// conversion cannot fail.
Json param_json(const ParamSpec& param) {
  Json json = {{"name", param.name}, {"kind", kind_name(param.kind)}};
  if (param.kind == ParamKind::choice) {
    json["choices"] = param.choices;
    json["default"] = param.default_value;
  } else {
    const auto number = [&](double value) {
      return param.kind == ParamKind::real ? Json(value) : Json(static_cast<std::int64_t>(value));
    };
    double standard = 0;
    std::from_chars(param.default_value.begin(), param.default_value.end(), standard);
    json["min"] = number(param.min);
    json["max"] = number(param.max);
    json["default"] = number(standard);
  }
  json["range"] = describe_range(param);
  json["help"] = param.help;
  return json;
}

// The fields that docs/command_line.md specifies. `codec` is the family's codec with default
// parameters, because stages are properties of a codec and not of its family.
Json family_json(const CodecFamily& family, const Codec& codec) {
  Json stages = Json::array();
  for (const Stage& stage : codec.stages()) {
    stages.push_back({{"name", stage.name}, {"combine", name(stage.combine)}});
  }
  Json params = Json::array();
  for (const ParamSpec& param : family.params) params.push_back(param_json(param));
  return {{"name", family.name},
          {"summary", family.summary},
          {"stages", std::move(stages)},
          {"aggregation", name(codec.aggregation())},
          {"lossy", codec.lossy()},
          {"conserves", codec.conserves()},
          {"whole_layers", codec.whole_layers()},
          {"parameters", std::move(params)}};
}

// One paragraph per family, and one line per parameter.
std::string family_text(const CodecFamily& family, const Codec& codec) {
  std::vector<std::string> stages;
  for (const Stage& stage : codec.stages()) {
    stages.push_back(fmt::format("{} ({})", stage.name, name(stage.combine)));
  }
  std::string text = fmt::format("{}\n  {}\n  {}; stages: {}; aggregation: {}\n", family.name,
                                 family.summary, codec.lossy() ? "lossy" : "lossless",
                                 fmt::join(stages, ", then "), name(codec.aggregation()));
  for (const ParamSpec& param : family.params) {
    text += fmt::format("    {}={}  {}; {}\n", param.name, param.default_value,
                        describe_range(param), param.help);
  }
  return text;
}

Result<Answer> list(World&) {
  Answer answer;
  Json all = Json::array();
  for (const CodecFamily& family : codec_families()) {
    TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, make_codec(family.name));
    if (!answer.text.empty()) answer.text += "\n";
    answer.text += family_text(family, *codec);
    all.push_back(family_json(family, *codec));
  }
  answer.data = json_text({{"codecs", std::move(all)}});
  return answer;
}

}  // namespace

Command codec_list_command() {
  return {.noun = "codec",
          .verb = "list",
          .summary = "list the codecs and their parameters",
          .details =
              "A codec is written NAME or NAME:KEY=VALUE,KEY=VALUE.\n\n"
              "examples:\n"
              "  tributary codec list\n"
              "  tributary codec list --json",
          .options = {},
          .run = list};
}

}  // namespace tributary
