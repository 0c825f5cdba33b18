#include "coordinator/link_figures.h"

#include <string>
#include <string_view>
#include <utility>

namespace tributary {

void LinkFigures::round_published(const Reading& round, const LinkCounters& now) {
  const LinkCounters before = std::exchange(at_last_round_, now);
  const auto keep = [&](std::string_view name, std::uint64_t bytes) {
    chronicle_.metric({.name = name,
                       .value = static_cast<double>(bytes),
                       .job = round.job,
                       .round = round.round});
  };
  keep("wire_bytes_up", now.wire_bytes_in - before.wire_bytes_in);
  keep("wire_bytes_down", now.wire_bytes_out - before.wire_bytes_out);
}

void LinkFigures::count_refusals(const LinkCounters& now) {
  for (std::size_t i = 0; i < kRefusalReasons; ++i) {
    const std::uint64_t fresh = now.refused[i] - std::exchange(refused_[i], now.refused[i]);
    if (fresh == 0) continue;
    metrics_.count("tributary_link_refused_total",
                   {{"reason", std::string(name(static_cast<RefusalReason>(i)))}},
                   static_cast<double>(fresh));
  }
}

}  // namespace tributary
