// Reads the gradients that bench/gradients/capture.py captured, with the optimizer's state. Tests
// only.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/optimizer_view.h"

namespace tributary::gcomp_testing {

struct Capture {
  std::string name;
  std::map<std::string, std::string> fields;  // of the manifest, by the last part of their name
  std::map<std::string, FloatVector> vectors;

  double number(const std::string& field) const { return std::stod(fields.at(field)); }
  const FloatVector& gradient() const { return vectors.at("gradient"); }

  OptimizerView view() const {
    const auto value = [this](const char* field) { return static_cast<float>(number(field)); };
    OptimizerView out = {.kind = OptimizerKind::sgd,
                         .learning_rate = value("learning_rate"),
                         .weight_decay = value("weight_decay"),
                         .step = static_cast<std::uint64_t>(number("step")),
                         .parameters = vectors.at("parameters")};
    if (fields.at("kind") == "sgd") return out;
    out.kind = OptimizerKind::adamw;
    out.beta1 = value("beta1");
    out.beta2 = value("beta2");
    out.epsilon = value("epsilon");
    out.first_moment = vectors.at("first_moment");
    out.second_moment = vectors.at("second_moment");
    return out;
  }
};

inline FloatVector read_floats(const std::filesystem::path& path) {
  FloatVector values(std::filesystem::file_size(path) / sizeof(float));
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

// Reads the manifest line by line. The script writes one `"name": value` per line, and a capture
// begins with its name.
inline std::vector<Capture> captures(const std::filesystem::path& folder) {
  std::vector<Capture> all;
  std::ifstream manifest(folder / "manifest.json");
  std::string group;
  for (std::string line; std::getline(manifest, line);) {
    const std::size_t open = line.find('"');
    const std::size_t close = line.find("\": ", open + 1);
    if (open == std::string::npos || close == std::string::npos) continue;
    const std::string name = line.substr(open + 1, close - open - 1);
    std::string value = line.substr(close + 3);
    while (!value.empty() && (value.back() == ',' || value.back() == '"')) value.pop_back();
    if (!value.empty() && value.front() == '"') value.erase(0, 1);
    if (name == "capture") all.push_back({.name = value, .fields = {}, .vectors = {}});
    if (all.empty()) continue;
    if (value == "{") group = name;
    if (name == "file") all.back().vectors[group] = read_floats(folder / value);
    all.back().fields[name] = value;
  }
  return all;
}

}  // namespace tributary::gcomp_testing
