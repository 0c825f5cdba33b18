#include "core/collective/collective_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"

namespace tributary {

Result<wire::Collective> parse_collective(std::string_view name) {
  std::array<std::string_view, kCollectives.size()> names;
  std::ranges::transform(kCollectives, names.begin(), wire::EnumNameCollective);
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return kCollectives[static_cast<std::size_t>(found - names.begin())];
  return Status(StatusCode::invalid_argument, {.what = "collective",
                                               .expected = "a known one",
                                               .got = fmt::format("'{}'", name),
                                               .remedy = did_you_mean(name, names)});
}

// A search keeps a single table of the mapping, collective_of().
std::optional<ExchangeKind> kind_of(wire::Collective collective) {
  for (const ExchangeKind kind : kExchangeKinds) {
    if (collective_of(kind) == collective) return kind;
  }
  return {};
}

wire::Collective collective_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::star:
      return wire::Collective::star;
    case ExchangeKind::sharded_star:
      return wire::Collective::sharded_star;
    case ExchangeKind::ring:
      return wire::Collective::ring;
    case ExchangeKind::tree:
      return wire::Collective::tree;
    case ExchangeKind::halving_doubling:
      return wire::Collective::halving_doubling;
    case ExchangeKind::all_gather:
      return wire::Collective::all_gather;
  }
  return wire::Collective::star;
}

}  // namespace tributary
