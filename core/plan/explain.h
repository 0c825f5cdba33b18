// Explains a decision by the belief that it was made from, and judges it by a later belief.
//
// All functions are pure and thread-safe. They need the inputs that are stored with a decision
// (inputs_text.h), so a decision can be explained long after it was made. The time is that of a
// decision without its search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/plan/decide.h"

namespace tributary {

enum class LinkKind : std::uint8_t { uplink, downlink, peers, coordinator };
// Which link of its kind stands for all of them. `single`: it stands for itself.
enum class LinkRank : std::uint8_t { single, slowest, middle, fastest };

// A link as it is believed to be.
struct BelievedLink {
  LinkKind kind = LinkKind::uplink;
  LinkRank rank = LinkRank::single;
  std::string agent = {};  // empty for the peers' network and the coordinator's link
  BeliefBand bits_per_s = {};
  BeliefBand alpha_s = {};  // one-way latency; 0 for the coordinator's link, which has none

  bool unlimited() const;
};

// Names of enumerators, as JSON contains them.
const char* name_of(LinkKind kind);
const char* name_of(LinkRank rank);
// Example: "slowest uplink (agent-3)".
std::string text_of(const BelievedLink& link);

// A factor by which the cost model errs on these machines.
struct BelievedFactor {
  std::string name = {};  // of a codec or of a collective
  BeliefBand factor = {};
};

// The belief about a choice.
struct BelievedChoice {
  PlanOption option = {};
  BeliefBand round_s = {};
  std::optional<double> value = {};  // WeighedOption::value
  bool chosen = false;
  bool in_force = false;  // before the decision
};

struct PlanExplanation {
  std::size_t worlds = 0;
  // Limits of the job (PlanPolicy); empty: no limit.
  std::vector<std::string> allowed_codecs = {};
  std::vector<wire::Collective> allowed_collectives = {};
  std::vector<BelievedLink> links = {};
  BeliefBand overhead_s = {};
  std::vector<BelievedFactor> codec_times = {};  // CPU time, by codec
  std::vector<BelievedFactor> codec_sizes = {};  // payload size, by codec
  // Exchange time, by collective: the middle one of all codecs.
  std::vector<BelievedFactor> collectives = {};
  // The chosen one first, then the most valuable.
  std::vector<BelievedChoice> candidates = {};
};

// Explains the decision for `chosen`. Of `chosen`, the bucket size may be roughly known: only the
// number of buckets counts. Fails with unsupported if the inputs contain no worlds, with mismatch
// if they do not contain the chosen codec, and with the error of check(inputs).
Result<PlanExplanation> explain(const PlanInputs& inputs, const PlanChoice& chosen);

// Returns at most three links for each kind, the slowest, the middle and the fastest one by their
// medians, if there are more than `links_max` of it.
std::vector<BelievedLink> grouped_links(std::vector<BelievedLink> links, std::size_t links_max);

// A choice, judged by the belief of a later decision.
struct PlanHindsight {
  PlanOption used = {};
  PlanOption best = {};
  // How much sooner the best choice makes the progress of one round of `used`. Never negative; 0 if
  // the choice was the best.
  double regret_s = 0;
};

// Judges `used` by `later`. Empty if the later inputs cannot judge it: they have no worlds, the
// choice is no longer possible, or the goal is a time budget, with which time saved is no progress.
// `candidates` are those of the later decision, if it has been explained; otherwise they are
// searched. Fails with the error of check(later).
Result<std::optional<PlanHindsight>> hindsight(const PlanInputs& later, const PlanChoice& used,
                                               std::span<const BelievedChoice> candidates = {});

}  // namespace tributary
