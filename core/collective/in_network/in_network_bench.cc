// Measures the loops over values of sums in the network, on one core: the linear check and the
// rules of an aggregator.
#include <memory>

#include "bench/harness/harness.h"
#include "core/base/random.h"
#include "core/collective/in_network/linear_check.h"
#include "core/collective/in_network/slot_rules.h"

namespace tributary::in_network {
namespace {

using bench::Case;

constexpr bench::Unit kValues = {.name = "G values/s", .size = 1e9};

struct CheckData {
  explicit CheckData(std::size_t n) : narrow(n), wide(n), packed(n / 2) {
    for (std::uint32_t i = 0; i < n; ++i) {
      narrow[i] = static_cast<std::uint8_t>(random_bits({1, 2}, i));
      wide[i] = static_cast<std::uint16_t>(random_bits({1, 3}, i));
      packed[i / 2] = static_cast<std::uint8_t>(random_bits({1, 4}, i / 2));
    }
    for (std::size_t i = 0; i < 16; ++i) places[i] = static_cast<std::uint16_t>(2 * i);
  }
  Bytes narrow;
  RawVector<std::uint16_t> wide;
  Bytes packed;
  std::array<std::uint16_t, 16> places = {};
  LinearCheck check{12345};
  std::uint64_t result = 0;
};

Status compared(std::uint64_t got, std::uint64_t expected) {
  if (got == expected) return {};
  return Status(StatusCode::mismatch,
                {.what = "the combination", .expected = "that of the plain loop"});
}

template <typename Values>
std::uint64_t plain(const Values& values) {
  const RawVector<std::uint32_t> numbers(values.begin(), values.end());
  return LinearCheck(12345).of(std::span<const std::uint32_t>(numbers));
}

Status check_levels(const CheckData& data) {
  RawVector<std::uint32_t> places;
  for (const std::uint8_t two : data.packed) {
    places.push_back(data.places[two & 15]);
    places.push_back(data.places[two >> 4]);
  }
  return compared(data.result, plain(places));
}

// Four agents contribute to one slot, phase after phase.
struct RulesData {
  RulesData() {
    SlotJob job = {.handle = 1, .epoch = 1, .agents = 4, .granularity = 30, .slots = 1};
    for (std::uint16_t i = 0; i < 16; ++i) job.places[i] = static_cast<std::uint16_t>(2 * i);
    if (rules.ok()) installed = rules->install(job);
  }
  void phase() {
    for (std::uint8_t agent = 0; agent < 4; ++agent) {
      write_header(
          {.agent = agent, .agents = 4, .job = 1, .epoch = 1, .sequence = sequence, .count = 1024},
          packet.data());
      last = rules->handle(packet, agent + 1u, reply);
    }
    ++sequence;
  }
  Result<SlotRules> rules = SlotRules::make(1);
  Status installed;
  std::uint32_t sequence = 0;
  Bytes packet = Bytes(kHeaderBytes + 512, 0x21);
  Bytes reply = Bytes(kPacketBytesMax);
  SlotReply last;
};

std::vector<Case> in_network_cases(const bench::Settings& settings) {
  const std::size_t n = settings.bucket_bytes / sizeof(float) / 1024 * 1024;
  const auto data = std::make_shared<CheckData>(n);
  const auto items = static_cast<double>(n);
  std::vector<Case> cases;
  cases.push_back({.name = "linear check, sums of 8 bits",
                   .bytes = items,
                   .run = [data] { data->result = data->check.of(data->narrow); },
                   .check = [data] { return compared(data->result, plain(data->narrow)); },
                   .unit = kValues});
  cases.push_back(
      {.name = "linear check, sums of 16 bits",
       .bytes = items,
       .run = [data] { data->result = data->check.of(std::span<const std::uint16_t>(data->wide)); },
       .check = [data] { return compared(data->result, plain(data->wide)); },
       .unit = kValues});
  cases.push_back(
      {.name = "linear check, levels of 4 bits",
       .bytes = items,
       .run = [data] { data->result = data->check.of_levels(data->packed, data->places); },
       .check = [data] { return check_levels(*data); },
       .unit = kValues});
  const auto rules = std::make_shared<RulesData>();
  cases.push_back({.name = "rules of a slot, 4 agents",
                   .bytes = 4096,
                   .run = [rules] { rules->phase(); },
                   .check =
                       [rules] {
                         const bool right = rules->installed.ok() &&
                                            rules->last.to == ReplyTo::all_agents &&
                                            rules->reply[kHeaderBytes + kContributorsBytes] == 8;
                         return right ? Status()
                                      : Status(StatusCode::mismatch,
                                               {.what = "the result", .expected = "sums of 8"});
                       },
                   .unit = kValues});
  return cases;
}

const bench::Registration kInNetwork({.name = "in_network",
                                      .about = "sums in the network: linear check, slot rules",
                                      .build = in_network_cases});

}  // namespace
}  // namespace tributary::in_network
