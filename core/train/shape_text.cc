#include "core/train/shape_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "core/base/nearest.h"

namespace tributary {
namespace {

constexpr std::array<std::string_view, 3> kTasks = {"classification", "regression", "next_token"};
// Bounds against mistyped shapes; a larger model could not be trained on a device.
constexpr std::uint64_t kExampleValuesMax = 1u << 28;
constexpr std::size_t kDimsMax = 8;

Status bad_input(std::string_view text) {
  return Status(StatusCode::invalid_argument, {.what = "job: input",
                                               .expected = "SIZExSIZE..., as 1x28x28",
                                               .got = fmt::format("'{}'", text),
                                               .remedy = "write down the shape of one example"});
}

// Reads one size, which must be positive and fill the whole text.
bool read_size(std::string_view text, std::uint32_t& size) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  return error == std::errc() && end == text.data() + text.size() && size != 0;
}

}  // namespace

Result<ExampleShape> parse_shape(const ShapeText& text) {
  const auto task = std::ranges::find(kTasks, text.task);
  if (task == kTasks.end()) {
    return Status(StatusCode::invalid_argument, {.what = "job: task",
                                                 .expected = "one of a few words",
                                                 .got = fmt::format("'{}'", text.task),
                                                 .remedy = did_you_mean(text.task, kTasks)});
  }
  ExampleShape shape;
  shape.task = static_cast<DataTask>(task - kTasks.begin());
  shape.classes = text.classes;
  shape.outputs = text.outputs;
  std::string_view rest = text.input;
  std::uint64_t values = 1;
  // The product is bounded before each step, so it cannot overflow.
  while (true) {
    const std::size_t cross = rest.find('x');
    std::uint32_t size = 0;
    if (!read_size(rest.substr(0, cross), size) || values * size > kExampleValuesMax ||
        shape.dims.size() == kDimsMax) {
      return bad_input(text.input);
    }
    values *= size;
    shape.dims.push_back(size);
    if (cross == std::string_view::npos) return shape;
    rest.remove_prefix(cross + 1);
  }
}

std::string describe(const ExampleShape& shape) {
  const std::string dims = fmt::format("{}", fmt::join(shape.dims, "x"));
  if (shape.task == DataTask::regression)
    return fmt::format("{} to {} outputs", dims, shape.outputs);
  return fmt::format("{} {} of {} classes", dims,
                     shape.task == DataTask::next_token ? "tokens" : "features", shape.classes);
}

}  // namespace tributary
