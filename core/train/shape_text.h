// Reads and writes the shape of an example as it stands in a job definition: "1x28x28" with a task.
// Pure functions; parse_shape() and the job's definition use the same text.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/data/data_set.h"

namespace tributary {

// The settings of a job that describe an example.
struct ShapeText {
  std::string task = "classification";
  // Sizes joined by "x", as "1x28x28".
  std::string input;
  std::uint32_t classes = 0;
  std::uint32_t outputs = 0;
};
// Fails with invalid_argument: an unknown task, a size of 0, or more than 8 sizes or 2^28 values.
Result<ExampleShape> parse_shape(const ShapeText& text);
// A description for messages, as "1x28x28 features of 10 classes".
std::string describe(const ExampleShape& shape);

}  // namespace tributary
