// The rules of in_network.fbs, and of the tables of sums in the network.
#include <fmt/format.h>

#include "schemas/checks.h"
#include "schemas/limits.h"

namespace tributary::wire {

Status check_packet_values(std::uint32_t values) {
  TRIBUTARY_TRY(at_most("packet_values", values, kPacketValuesMax));
  if (values % kPacketValuesUnit == 0) return {};
  return broken("packet_values", fmt::format("a multiple of {}", kPacketValuesUnit),
                fmt::format("{}", values));
}

Status check(const InstallEpoch& install) {
  TRIBUTARY_TRY(given("job", install.job()));
  if (install.remove()) return {};
  TRIBUTARY_TRY(given("epoch", install.epoch()));
  TRIBUTARY_TRY(in_range("agents", install.agents(), 1, kSummedAgentsMax));
  // A sum has 16 bits at most.
  TRIBUTARY_TRY(in_range("granularity", install.granularity(), 1, UINT16_MAX / install.agents()));
  TRIBUTARY_TRY(equal("places", size_of(install.places()), kSummedLevels));
  for (std::uint32_t i = 0; i < kSummedLevels; ++i) {
    TRIBUTARY_TRY(at_most("places", install.places()->Get(i), install.granularity()));
  }
  TRIBUTARY_TRY(in_range("slot_count", install.slot_count(), 1, kSumSlotsMax));
  TRIBUTARY_TRY(check_packet_values(install.packet_values()));
  if (size_of(install.sources()) == 0) return {};
  return equal("sources", install.sources()->size(), install.agents());
}

Status check(const EpochInstalled& installed) {
  TRIBUTARY_TRY(given("job", installed.job()));
  TRIBUTARY_TRY(given("epoch", installed.epoch()));
  return installed.installed() ? Status() : given("text", installed.text());
}

Status check(const SumsInNetwork& sums) {
  TRIBUTARY_TRY(given("epoch", sums.epoch()));
  TRIBUTARY_TRY(in_range("agents", sums.agents(), 1, kSummedAgentsMax));
  TRIBUTARY_TRY(in_range("slot_count", sums.slot_count(), 1, kSumSlotsMax));
  TRIBUTARY_TRY(check_packet_values(sums.packet_values()));
  return given("check_secret", sums.check_secret());
}

Status check(const SumsCheck& sums) {
  TRIBUTARY_TRY(below("sent", sums.sent(), kSumsCheckEnd));
  return below("got", sums.got(), kSumsCheckEnd);
}

}  // namespace tributary::wire
