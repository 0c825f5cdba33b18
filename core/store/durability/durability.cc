#include "core/store/durability/durability.h"

#include <array>

namespace tributary {
namespace {

constexpr std::array kDurabilities = {Durability::round, Durability::seconds_30, Durability::stop};

}  // namespace

std::string_view name(Durability durability) {
  switch (durability) {
    case Durability::round:
      return "round";
    case Durability::seconds_30:
      return "30s";
    case Durability::stop:
      break;
  }
  return "stop";
}

Result<Durability> durability_named(std::string_view name) {
  for (const Durability durability : kDurabilities) {
    if (tributary::name(durability) == name) return durability;
  }
  return Status(StatusCode::invalid_argument, {.what = "durability",
                                               .expected = "round, 30s or stop",
                                               .got = std::string(name),
                                               .remedy = {}});
}

}  // namespace tributary
