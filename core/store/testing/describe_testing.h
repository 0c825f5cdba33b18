// Describes a restored state completely as text. Texts are equal for equal states, and show where
// states differ.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "core/base/bytes/checksum.h"
#include "core/round/common/machine/records.h"

namespace tributary::store_testing {

inline std::string described(const SharedBytes& bytes) {
  return bytes ? fmt::format("{} B {:016x}", bytes->size(), hash64(*bytes)) : "none";
}
inline std::string described(const SharedFloats& floats) {
  if (!floats) return "none";
  return fmt::format("{} values {:016x}", floats->size(),
                     hash64(bytes_of(std::span<const float>(*floats))));
}

inline std::string described(const RoundRecord& round) {
  std::string out = fmt::format(
      "{}: entry {} members {} buckets {} hashes {:x} {:x} plan {} times {} {} bytes {} {}\n",
      text(round.id), round.journal_entry, round.members, round.buckets, round.previous_hash,
      round.model_hash, described(round.plan), round.began_at_ns, round.committed_at_ns,
      round.bytes_up, round.bytes_down);
  for (const ContributorSetRecord& set : round.contributor_sets) {
    out += fmt::format("    set {} of {} divisor {:a}\n", fmt::join(set.bits, "."),
                       set.contributors, set.divisor);
  }
  for (const OutcomeRecord& outcome : round.outcomes) {
    out += fmt::format("    bucket {} set {} hash {:x}\n", outcome.bucket, outcome.contributor_set,
                       outcome.result_hash);
  }
  return out;
}

inline std::string described(const EpochRecord& epoch) {
  std::string out = fmt::format("epoch {} from {}:", epoch.epoch, epoch.first_round);
  for (const MemberRecord& member : epoch.members) {
    out += fmt::format(" '{}' {:a}", member.agent_id, member.weight);
  }
  return out + "\n";
}

inline std::string described(const JobRecord& job) {
  const RoundPolicy& policy = job.policy;
  return fmt::format(
      "job {} revision {} change {} state {} '{}' definition {} codecs {} {} agents {} rate {:a}\n",
      job.job, job.revision, job.change, static_cast<int>(job.state), job.state_reason,
      described(job.definition), policy.codec, fmt::join(policy.codecs, ","), policy.agents_min,
      policy.learning_rate);
}

inline std::string described(const CoordinatorState& state) {
  std::string out;
  for (const RestoredJob& job : state.jobs) {
    out += described(job.job);
    out += fmt::format("  checkpoint {} {:x} model {} rule {}\n", job.checkpoint.model_version,
                       job.checkpoint.model_hash, described(job.checkpoint.model),
                       described(job.checkpoint.rule_state));
    for (const CommitRecord& commit : job.redo) {
      out += "  redo " + described(commit.round);
      for (const RedoPayload& payload : commit.redo) {
        out += fmt::format("    bucket {} stage {} {}\n", payload.bucket, payload.stage,
                           described(payload.payload));
      }
    }
    out += fmt::format("  residual {} last epoch {}\n", described(job.aggregator_residual),
                       job.last_epoch);
    for (const RoundRecord& round : job.history) out += "  past " + described(round);
    for (const EpochRecord& epoch : job.epochs) out += "  " + described(epoch);
    for (const RestoredFacts& facts : job.facts) {
      if (!facts.mechanisms) continue;  // as in journals that had none
      out += fmt::format("  facts {} {}\n", facts.round, described(facts.mechanisms));
    }
  }
  return out;
}

inline std::string described(const AgentState& state) {
  std::string out;
  if (state.job) {
    out += fmt::format("job {} revision {} change {} state {} definition {}\n", state.job->job,
                       state.job->revision, state.job->change, static_cast<int>(state.job->state),
                       described(state.job->definition));
  }
  if (state.replica) {
    const ReplicaRecord& replica = *state.replica;
    const ResidualStamp& stamp = replica.residual_stamp;
    out += fmt::format(
        "replica of {} layers {:x} epoch {} version {} hash {:x} model {} rule {}\n  residual {} "
        "of {} rate {:a} updates {} round {}\n",
        replica.job, replica.layer_map_hash, replica.epoch, replica.model_version,
        replica.model_hash, described(replica.model), described(replica.rule_state),
        described(replica.residual), stamp.version, stamp.learning_rate, stamp.updates_taken,
        stamp.update_round);
    if (stamp.part_round != 0) {
      out += fmt::format("  of round {} from {}\n", stamp.part_round, stamp.part_first);
    }
  }
  for (const UndecidedRound& round : state.undecided) {
    out += fmt::format("undecided {} as {}\n", text(round.id), round.agent_index);
    if (round.stamp.updates_taken != 0) {  // none before version 4
      out += fmt::format("  updates {} round {} rate {:a}, of round {} from {}\n",
                         round.stamp.updates_taken, round.stamp.update_round,
                         round.stamp.learning_rate, round.stamp.part_round, round.stamp.part_first);
    }
    for (const ContributionPart& part : round.parts) {
      out += fmt::format(
          "  bucket {} at {}: {}\n", part.bucket, part.first_value,
          part.if_committed ? described(part.if_committed) : fmt::format("{} zeros", part.values));
    }
  }
  if (state.download) {
    const StoredDownload& download = *state.download;
    out +=
        fmt::format("download of {} hash {:x}: {} B {:016x} of {}\n", download.job, download.hash,
                    download.received.size(), hash64(download.received), download.bytes);
  }
  return out;
}

}  // namespace tributary::store_testing
