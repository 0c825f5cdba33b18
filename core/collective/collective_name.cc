#include "core/collective/collective_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"
#include "core/cost/exchange_shape.h"
#include "schemas/enum_names.h"

namespace tributary {

Result<wire::Collective> parse_collective(std::string_view name) {
  std::vector<std::string_view> names =
      wire::enum_names(kCollectives.front(), kCollectives.back(), wire::EnumNameCollective);
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    return kCollectives[static_cast<std::size_t>(found - names.begin())];
  }
  // The planner does not know it, but a job may ask for it.
  const std::string_view network = wire::EnumNameCollective(wire::Collective::in_network);
  if (name == network) return wire::Collective::in_network;
  names.push_back(network);
  return Status(StatusCode::invalid_argument, {.what = "collective",
                                               .expected = "a known one",
                                               .got = fmt::format("'{}'", name),
                                               .remedy = did_you_mean(name, names)});
}

}  // namespace tributary
