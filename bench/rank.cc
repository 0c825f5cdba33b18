#include "bench/rank.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/base/bytes/checksum.h"
#include "core/update/synthetic.h"

namespace tributary::bench {
namespace {

// Values repeat with a prime period, so neighbouring segments differ.
constexpr std::size_t kPeriod = 251;
using Pattern = std::array<float, kPeriod>;

// Multiples of 1/64 with absolute values below 2: sums of up to a thousand ranks are exact in any
// order.
Pattern values_of(std::uint32_t rank, std::uint32_t round) {
  Pattern values = {};
  for (std::size_t i = 0; i < kPeriod; ++i) {
    const std::size_t step = (i * 7 + rank * 13 + round * 29) % kPeriod;
    values[i] = (static_cast<float>(step) - 125.0F) / 64.0F;
  }
  return values;
}

// The expected sum of all ranks.
Pattern sum_of(std::uint32_t ranks, std::uint32_t round) {
  Pattern sum = {};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Pattern values = values_of(rank, round);
    for (std::size_t i = 0; i < kPeriod; ++i) sum[i] += values[i];
  }
  return sum;
}

void fill(FloatVector& update, const Pattern& values) {
  for (std::size_t at = 0; at < update.size(); at += kPeriod) {
    const std::size_t count = std::min(kPeriod, update.size() - at);
    std::copy_n(values.begin(), count, update.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

Status verify(const FloatVector& update, const Pattern& sum, std::uint32_t round) {
  for (std::size_t i = 0; i < update.size(); ++i) {
    if (update[i] == sum[i % kPeriod]) continue;
    return Status(StatusCode::mismatch,
                  {.what = fmt::format("the sum of round {}, element {}", round, i),
                   .expected = fmt::format("{}", sum[i % kPeriod]),
                   .got = fmt::format("{}", update[i])});
  }
  return {};
}

struct CpuTime {
  double user_s = 0;
  double system_s = 0;
};

CpuTime cpu_time() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {.user_s = seconds(usage.ru_utime), .system_s = seconds(usage.ru_stime)};
}

// The name of the interface that has this IPv4 address; empty if none has it.
std::string interface_of(const std::string& address) {
  in_addr requested = {};
  ifaddrs* all = nullptr;
  if (inet_pton(AF_INET, address.c_str(), &requested) != 1 || getifaddrs(&all) != 0) return {};
  std::string name;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const auto* const has = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (has->sin_addr.s_addr == requested.s_addr) name = one->ifa_name;
  }
  freeifaddrs(all);
  return name;
}

struct Counters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

// /proc/self follows the process into its network namespace; /sys shows the one in which it was
// mounted.
Counters counters_of(const std::string& interface) {
  std::ifstream file("/proc/self/net/dev");
  for (std::string line; !interface.empty() && std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(' ');
    if (line.substr(start, colon - start) != interface) continue;
    std::istringstream fields(line.substr(colon + 1));
    // 8 receive counters, then 8 transmit counters; each group begins with bytes
    std::array<std::uint64_t, 16> values = {};
    for (std::uint64_t& value : values) fields >> value;
    return {.sent = values[8], .received = values[0]};
  }
  return {};
}

Status verify_finite(const FloatVector& update, std::uint32_t round) {
  if (std::ranges::all_of(update, [](float value) { return std::isfinite(value); })) return {};
  return Status(StatusCode::not_finite, {.what = fmt::format("the sum of round {}", round)});
}

// The update of every round, and the check of its sum.
class Updates {
 public:
  explicit Updates(const RankSettings& settings)
      : settings_(settings), update_(settings.bytes / sizeof(float)) {
    if (settings.exact) return;
    gradient_ = settings.gradient;
    gradient_.resize(update_.size());
    if (settings.gradient.empty()) fill_agent_gradient({.seed = 1}, settings.rank, gradient_);
  }

  FloatVector& begin(std::uint32_t round) {
    if (settings_.exact) {
      fill(update_, values_of(settings_.rank, round));
    } else {
      std::ranges::copy(gradient_, update_.begin());
    }
    return update_;
  }

  Status end(std::uint32_t round) {
    sums_.update(bytes_of(std::span<const float>(update_)));
    return settings_.exact ? verify(update_, sum_of(settings_.size, round), round)
                           : verify_finite(update_, round);
  }

  void forget_sums() { sums_ = Checksum(); }
  std::uint64_t sums_hash() const { return sums_.finish64(); }

 private:
  const RankSettings& settings_;
  FloatVector update_;
  FloatVector gradient_;
  Checksum sums_;
};

// Only the all-reduce is timed; filling, barrier and verification are not.
Status one_round(const Exchange& exchange, std::uint32_t round, Updates& updates,
                 RankFigures& figures) {
  FloatVector& update = updates.begin(round);
  TRIBUTARY_TRY(exchange.barrier());
  const CpuTime cpu_before = cpu_time();
  const auto start = std::chrono::steady_clock::now();
  TRIBUTARY_TRY(exchange.all_reduce(update));
  const auto end = std::chrono::steady_clock::now();
  const CpuTime cpu_after = cpu_time();
  TRIBUTARY_TRY(updates.end(round));
  figures.round_s.push_back(std::chrono::duration<double>(end - start).count());
  figures.began_s.push_back(std::chrono::duration<double>(start.time_since_epoch()).count());
  figures.cpu_user_s += cpu_after.user_s - cpu_before.user_s;
  figures.cpu_system_s += cpu_after.system_s - cpu_before.system_s;
  return {};
}

double gigabytes(const RankSettings& settings) {
  return static_cast<double>(settings.bytes) * settings.rounds * 1e-9;
}

double cpu_s_per_gb(const RankSettings& settings, const RankFigures& figures) {
  return (figures.cpu_user_s + figures.cpu_system_s) / gigabytes(settings);
}

}  // namespace

Result<RankFigures> measure_rank(const RankSettings& settings, const Exchange& exchange) {
  Updates updates(settings);
  RankFigures figures;
  for (std::uint32_t round = 0; round < settings.warm_ups; ++round) {
    TRIBUTARY_TRY(one_round(exchange, round, updates, figures));
  }
  figures = {};
  updates.forget_sums();
  const std::string interface = interface_of(settings.address);
  const Counters before = counters_of(interface);
  for (std::uint32_t round = 0; round < settings.rounds; ++round) {
    TRIBUTARY_TRY(one_round(exchange, settings.warm_ups + round, updates, figures));
  }
  // No rank may leave while another one still waits for data in its buffers.
  TRIBUTARY_TRY(exchange.barrier());
  const Counters after = counters_of(interface);
  figures.bytes_sent = after.sent - before.sent;
  figures.bytes_received = after.received - before.received;
  figures.sums_hash = updates.sums_hash();
  return figures;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string figures_json(std::string_view program, std::string_view algorithm,
                         const RankSettings& settings, const RankFigures& figures) {
  return fmt::format(
      "{{\"schema_version\":1,\"status\":\"ok\",\"data\":{{\"program\":\"{}\",\"algorithm\":\"{}\","
      "\"rank\":{},\"size\":{},\"bytes\":{},\"rounds\":{},\"verified\":{},"
      "\"round_s_median\":{:.6f},\"round_s\":[{:.6f}],\"began_s\":[{:.6f}],\"cpu_user_s\":{:.6f},"
      "\"cpu_system_s\":{:.6f},\"cpu_s_per_gb\":{:.4f},\"bytes_sent\":{},\"bytes_received\":{},"
      "\"sums_hash\":\"{:016x}\"}}}}"
      "\n",
      program, algorithm, settings.rank, settings.size, settings.bytes, settings.rounds,
      settings.exact, median_of(figures.round_s), fmt::join(figures.round_s, ","),
      fmt::join(figures.began_s, ","), figures.cpu_user_s, figures.cpu_system_s,
      cpu_s_per_gb(settings, figures), figures.bytes_sent, figures.bytes_received,
      figures.sums_hash);
}

std::string figures_text(std::string_view program, std::string_view algorithm,
                         const RankSettings& settings, const RankFigures& figures) {
  const double rounds = settings.rounds;
  return fmt::format(
      "{} {}, rank {} of {}, {} bytes of float32, {} rounds{}\n"
      "round   median {:.2f} ms, {:.2f} to {:.2f}\n"
      "CPU     {:.1f} ms user + {:.1f} ms system a round: {:.2f} s per GB of float32\n"
      "wire    {:.0f} bytes sent, {:.0f} received a round\n",
      program, algorithm, settings.rank, settings.size, settings.bytes, settings.rounds,
      settings.exact ? " verified" : "", median_of(figures.round_s) * 1e3,
      std::ranges::min(figures.round_s) * 1e3, std::ranges::max(figures.round_s) * 1e3,
      figures.cpu_user_s / rounds * 1e3, figures.cpu_system_s / rounds * 1e3,
      cpu_s_per_gb(settings, figures), static_cast<double>(figures.bytes_sent) / rounds,
      static_cast<double>(figures.bytes_received) / rounds);
}

}  // namespace tributary::bench
