// The shape of an example as people write it down.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/data/data_set.h"

namespace tributary {

struct ShapeText {
  std::string task = "classification";
  std::string input;
  std::uint32_t classes = 0;
  std::uint32_t outputs = 0;
};
Result<ExampleShape> parse_shape(const ShapeText& text);
std::string describe(const ExampleShape& shape);

}  // namespace tributary
