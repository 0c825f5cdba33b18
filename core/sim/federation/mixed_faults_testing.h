// All faults in one run: crashes of both sides, cut links, loss, repetition, reordering, full disks
// and a journal that keeps few rounds. Then the faults stop, and the federation must recover.
#pragma once

#include <cstdint>

#include "core/sim/federation/federation_testing.h"

namespace tributary::sim_testing {

// The seed selects the codec, the sizes and the form of the updates.
inline Options mixed_options(std::uint64_t seed) {
  static constexpr const char* kCodecs[] = {"topk:cr=0.1", "fp32", "thc",
                                            "threelc",     "int8", "star_topk"};
  Options options;
  options.policy.codec = kCodecs[seed % std::size(kCodecs)];
  if (seed % 7 == 0) options.policy.codecs = {"thc", "threelc", "fp32"};
  options.policy.bucket_values_max = 128;
  options.policy.deadline_ms = 400;
  options.policy.preliminary_deadline_ms = 200;
  options.policy.retry_after_ms = 20;
  options.policy.checkpoint_rounds = 4;
  options.seed = seed;
  options.in_parts = seed % 2 == 0;
  options.agents = 5;
  options.rounds = 10;
  options.loss = 0.05;
  options.repeat = 0.05;
  options.delay_max_ns = 20 * kNsPerMs;
  options.history_rounds_max = 4;
  options.redo_models = 0.1;
  if (seed % 3 == 0) {
    options.redo_models = 5;
    options.redo_bytes_in_memory_max = 0;
  }
  if (seed % 5 == 0) {
    options.payload_bytes_max = 100;
    options.incoming_bytes_max = 2'000;
    options.outgoing_bytes_max = 2'000;
  }
  return options;
}

// `what` selects the fault and the agent.
inline void break_something(Federation& federation, std::uint32_t what, TimeNs when) {
  const std::uint32_t i = what % 5;
  switch (what % 4) {
    case 3:
      federation.at(when, [&federation] { federation.crash_coordinator(); });
      federation.at(when + 40 * kNsPerMs, [&federation] { federation.start_coordinator(); });
      break;
    case 2:
      federation.at(when, [&federation, i] { federation.set_cut(i, true); });
      federation.at(when + 1'500 * kNsPerMs, [&federation, i] { federation.set_cut(i, false); });
      break;
    case 1:
      federation.at(when, [&federation, i] {
        federation.host(i).fail_stores(2);
        federation.coordinator_host().fail_stores(1);
        federation.coordinator_host().fail_reads(1);
      });
      break;
    default:
      federation.at(when, [&federation, i] {
        if (federation.host(i).running()) federation.crash_agent(i);
      });
      federation.at(when + 100 * kNsPerMs, [&federation, i] {
        if (!federation.host(i).running()) federation.start_agent(i);
      });
  }
}

// The same faults among peers, whose connections also break.
inline Options mixed_peer_options(std::uint64_t seed) {
  static constexpr wire::Collective kCollectives[] = {
      wire::Collective::ring, wire::Collective::tree, wire::Collective::all_gather,
      wire::Collective::sharded_star, wire::Collective::halving_doubling};
  Options options = mixed_options(seed);
  if (seed % 6 == 4) options.policy.codec = "gcomp";
  options.policy.collective = kCollectives[seed / 2 % std::size(kCollectives)];
  options.policy.deadline_ms = 800;
  options.policy.exchanges_per_round = seed % 3 == 0 ? 3 : 1;
  options.peers = true;
  return options;
}

inline void play_mixed(const Options& options) {
  const std::uint64_t seed = options.seed;
  Federation federation(options);
  if (options.peers) federation.peers.breaks = 0.002;
  for (std::uint32_t i = 0; i < 16; ++i) {
    const auto mixed = static_cast<std::uint32_t>(i * 7 + seed * 3);
    break_something(federation, mixed, static_cast<TimeNs>(20 + 61 * i + seed % 97 * 7) * kNsPerMs);
  }
  ASSERT_TRUE(federation.run([&] { return federation.now() > 4'000 * kNsPerMs; }));
  federation.set_loss(0, 0);
  federation.peers.breaks = 0;
  ASSERT_TRUE(federation.run_to_the_end()) << federation.describe();
  federation.expect_identical();
  // Sums of multiples of 1/64 are exact. The values that THC, 3LC and int8 decode are not
  // multiples.
  const bool exact =
      options.policy.codecs.empty() &&
      (options.policy.codec == "fp32" || options.policy.codec.find("topk") != std::string::npos);
  federation.expect_conserved(exact ? 0 : 1e-4);
}

}  // namespace tributary::sim_testing
