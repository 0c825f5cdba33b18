#include "core/codec/finite.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>

namespace tributary {

Status not_finite_error(std::span<const float> values) {
  std::size_t index = 0;
  while (index < values.size() && std::isfinite(values[index])) ++index;
  assert(index < values.size());
  return Status(StatusCode::not_finite,
                {.what = fmt::format("element {} of the bucket", index),
                 .expected = "a finite number",
                 .got = fmt::format("{}", values[index]),
                 .remedy = "lower the learning rate or clip the gradient; nothing was sent"});
}

}  // namespace tributary
