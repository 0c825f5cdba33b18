#include "core/sim/checks/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes/checksum.h"

namespace tributary {
Ledger::Ledger(std::uint32_t agents, std::uint64_t values, Watch& watch, Durability durability)
    : watch_(watch) {
  losses_.durability = durability;
  for (std::uint32_t i = 0; i < agents; ++i) {
    accounts_.emplace_back(values);
    agents_.emplace(agent_name(i), i);
  }
  seen_.resize(agents);
}

std::string Ledger::agent_name(std::uint32_t agent) { return fmt::format("agent-{}", agent); }

void Ledger::complain(TimeNs now, const char* invariant, const Status& status,
                      const std::string& machine_name) {
  if (!status.ok())
    watch_.report(now, invariant, fmt::format("{}: {}", machine_name, status.text()));
}

// --- the coordinator's journal -------------------------------------------------------------------

void Ledger::job_stored(const NewJobRecord& record, TimeNs now) {
  if (job_) {
    watch_.report(now, "journal", "the job was submitted and stored twice");
    return;
  }
  auto job = JobModel::make(record.job.definition);
  const Status begun = job.ok() ? replay_.begin(*job, *record.checkpoint.model) : job.status();
  if (!begun.ok()) return complain(now, "journal", begun, "the job's definition");
  job_ = *job;
  // Accounts are exact only if no codec of the job changes updates on purpose or is correct only on
  // average.
  accounted_ = replay_.can_keep_accounts(record.job.policy);
  by_peers_ = record.job.policy.collective != wire::Collective::star;
  hashes_ = {replay_.model_hash()};
  if (may_lose()) losses_.marks = {replay_.mark()};
}

void Ledger::epoch_stored(const EpochRecord& record) { epochs_[record.epoch] = record; }

// A commit in doubt may be stored again after a restart, which settles the doubt.
void Ledger::commit_stored(const CommitRecord& record, TimeNs now) {
  if (doubtful_ && doubtful_->round.id == record.round.id) doubtful_.reset();
  accept(record, now);
}

void Ledger::commit_in_doubt(const CommitRecord& record) { doubtful_ = record; }

// Checks the order of the commit, replays its round and compares the model.
void Ledger::accept(const CommitRecord& record, TimeNs now) {
  const RoundKey& key = record.round.id;
  const std::string machine_name = "coordinator, " + text(key);
  if (!job_ || key.job != job_->job())
    return watch_.report(now, "commits", machine_name + ": no such job");
  if (key.round != hashes_.size()) {
    const bool again = key.round < hashes_.size();
    watch_.report(now, "commits",
                  fmt::format("{}: stored {}, round {} is the last one", machine_name,
                              again ? "for a second time" : "out of order", rounds_committed()));
    return;
  }
  complain(now, "commits", replay(record), machine_name);
  // The model is computed a second time, from nothing but the records.
  const std::uint64_t hash = replay_.model_hash();
  if (hash != record.round.model_hash) {
    watch_.report(
        now, "replicas",
        fmt::format("{}: its record says the model is {:016x}; played again it is {:016x}",
                    machine_name, record.round.model_hash, hash));
  }
  hashes_.push_back(record.round.model_hash);
  rounds_.push_back(key);
  if (may_lose()) losses_.marks.push_back(replay_.mark());
  for (Account& account : accounts_) {
    account.round_is_decided(key);
    if (!accounted_) account.forget(key);
  }
}

// Replays a commit with the members of its epoch.
Status Ledger::replay(const CommitRecord& record) {
  const auto epoch = epochs_.find(record.round.id.epoch);
  if (epoch == epochs_.end()) {
    return Status(StatusCode::mismatch,
                  {.what = "epoch", .expected = "one that is stored", .got = "none"});
  }
  return replay_.play(record, epoch->second, [this](const std::string& agent_id) {
    const auto agent = agents_.find(agent_id);
    return agent == agents_.end() ? nullptr : &accounts_[agent->second];
  });
}

// The replicas of agents may still have the lost rounds. They are made anew under other identities.
void Ledger::lose_rounds_after(std::uint64_t version, TimeNs now) {
  if (version < losses_.rounds_durable) {
    watch_.report(now, "durability",
                  fmt::format("round {} was durable; after a power failure the journal ends with "
                              "round {}",
                              losses_.rounds_durable, version));
  }
  for (std::uint64_t round = version + 1; round < hashes_.size(); ++round) {
    losses_.models.emplace(round, hashes_[round]);
    for (Account& account : accounts_) account.revoked(rounds_[round - 1]);
    ++losses_.rounds;
  }
  hashes_.resize(version + 1);
  rounds_.resize(version);
  losses_.marks.resize(version + 1);
  complain(now, "commits", replay_.go_back(losses_.marks.back()), "the replay");
}

// Compares the journal after a restart with the commits that the disk has acknowledged. A commit in
// doubt may be in it or not.
void Ledger::restored(const CoordinatorState& state, bool power_failed, TimeNs now) {
  if (state.jobs.empty()) {
    if (job_) watch_.report(now, "journal", "the coordinator's journal has lost the job");
    return;
  }
  const RestoredJob& job = state.jobs.front();
  if (!job_) job_stored({job.job, job.checkpoint}, now);
  for (const EpochRecord& epoch : job.epochs) epochs_[epoch.epoch] = epoch;
  // The journal's last round: that of the last redo, or the checkpoint's if there is none.
  const std::uint64_t version =
      job.redo.empty() ? job.checkpoint.model_version : job.redo.back().round.id.round;
  if (doubtful_ && version == rounds_committed() + 1 &&  // the commit in doubt was stored
      (job.redo.empty() ? version == doubtful_->round.id.round
                        : job.redo.back().round.id == doubtful_->round.id)) {
    accept(*doubtful_, now);
  }
  doubtful_.reset();
  if (may_lose() && power_failed && version < rounds_committed()) lose_rounds_after(version, now);
  // The process has made the log durable before it used what it found.
  journal_durable();
  if (version != rounds_committed()) {
    watch_.report(now, "commits",
                  fmt::format("round {} was committed and acknowledged by the disk; after a "
                              "restart the journal ends with round {}",
                              rounds_committed(), version));
  }
  check_aggregator_residual(job, power_failed, now);
  for (const CommitRecord& redo : job.redo) {
    const std::uint64_t round = redo.round.id.round;
    if (round > rounds_.size() || rounds_[round - 1] == redo.round.id) continue;
    watch_.report(now, "commits",
                  fmt::format("{} was committed; the journal has {}", text(rounds_[round - 1]),
                              text(redo.round.id)));
  }
}

// After a power failure, rows that were not durable may refer to bytes of other rounds. The values
// are then zeros, and the sums of later rounds lack them.
void Ledger::check_aggregator_residual(const RestoredJob& job, bool power_failed, TimeNs now) {
  const Result<std::uint64_t> lost = replay_.take_residual(job.aggregator_residual);
  if (!lost.ok()) return complain(now, "conservation", lost.status(), "coordinator");
  if (*lost == 0) return;
  losses_.sums_values += *lost;
  if (may_lose() && power_failed) {
    losses_.marks.back() = replay_.mark();
    return;
  }
  watch_.report(
      now, "durability",
      fmt::format("the coordinator has lost {} values of the residual of the sums, and no "
                  "power failure can have undone its records",
                  *lost));
}

// A commit must be in the journal before it is published.
void Ledger::published(const wire::Commit& commit, TimeNs now) {
  const RoundKey key = key_of(*commit.id());
  if (key.round < hashes_.size() && rounds_[key.round - 1] == key &&
      hashes_[key.round] == commit.model_hash()) {
    return;
  }
  watch_.report(now, "commits", text(key) + ": published, and not in the journal");
}

// --- replicas ------------------------------------------------------------------------------------

void Ledger::check_replica(const std::string& machine_name, std::uint64_t version,
                           std::uint64_t hash, const SharedFloats& model, TimeNs now) {
  const bool lost = losses_.models.contains({version, hash});
  if (version >= hashes_.size() && !lost) {
    watch_.report(now, "commits",
                  fmt::format("{} has applied round {}, and round {} is the last that is committed",
                              machine_name, version, rounds_committed()));
    return;
  }
  // The hash is computed anew, because the machine's own hash may be wrong.
  const std::uint64_t real = hash64(bytes_of<float>(*model));
  if ((lost || hash == hashes_[version]) && real == hash) return;
  watch_.report(
      now, "replicas",
      fmt::format("{}: model of round {} is {:016x}, it says {:016x}; committed is {:016x}",
                  machine_name, version, real, hash, lost ? hash : hashes_[version]));
}

void Ledger::check_coordinator(const Coordinator& machine, TimeNs now) {
  const SharedFloats model = machine.model();
  if (model)
    check_replica("coordinator", machine.model_version(), machine.model_hash(), model, now);
}

void Ledger::update_sent(std::uint32_t agent, const wire::Update& update,
                         const PayloadSlice& payload, TimeNs now) {
  const wire::Part& part = *update.part();
  complain(now, "conservation",
           accounts_[agent].sent(key_of(*part.id()), part, payload, update.encoded_round()),
           agent_name(agent));
}

// A stored residual settles which updates survive a restart. Among peers, it also shows what the
// agent has contributed.
void Ledger::agent_stored(std::uint32_t agent, const AgentRecordToStore& record) {
  if (const auto* const replica = std::get_if<ReplicaRecord>(&record)) {
    accounts_[agent].stored(replica->residual_stamp.updates_taken);
  } else if (const auto* const contribution = std::get_if<ContributionRecord>(&record)) {
    Account& account = accounts_[agent];
    const std::uint64_t taken = contribution->residual_stamp.updates_taken;
    if (contribution->residual) account.stored(taken);
    if (contribution->parts.empty()) return;
    account.stored_contribution(contribution->id, taken);
    if (!by_peers_) return;
    for (const ContributionPart& part : contribution->parts) {
      account.gave(contribution->id, part.bucket, given_away(*contribution, part));
    }
  }
}

void Ledger::residual_dropped(std::uint32_t agent, std::uint64_t updates_taken, bool power_failed,
                              TimeNs now) {
  if (!may_lose() || !power_failed) {
    watch_.report(now, "durability",
                  agent_name(agent) +
                      " has dropped its residual, and no power failure can have "
                      "undone its records");
  }
  ++losses_.residuals;
  accounts_[agent].write_off(updates_taken);
}

// The agent's index in the epoch of a Commit; empty for other frames and for agents that were no
// members.
std::optional<std::uint32_t> Ledger::place(std::uint32_t agent, ByteSpan frame) const {
  const Result<const wire::Frame*> opened = open_frame(frame);
  const wire::Commit* const commit = opened.ok() ? (*opened)->message_as_Commit() : nullptr;
  if (commit == nullptr) return std::nullopt;
  const auto epoch = epochs_.find(commit->id()->epoch());
  if (epoch == epochs_.end()) return std::nullopt;
  const auto& members = epoch->second.members;
  const auto found = std::ranges::find(members, agent_name(agent), &MemberRecord::agent_id);
  if (found == members.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - members.begin());
}

// Hashing a model is expensive, so it is only done after a change or a restart.
void Ledger::check_agent(std::uint32_t agent, const Agent& machine, bool restarted, TimeNs now) {
  if (machine.job() == 0 || machine.job() != job()) return;
  Seen& seen = seen_[agent];
  const SharedFloats model = machine.model();
  const std::uint64_t version = machine.model_version();
  const std::uint64_t taken = machine.updates_taken();
  if (!restarted && seen.version == version && seen.taken == taken) return;
  const std::string machine_name = agent_name(agent);
  if (model && (restarted || seen.version != version)) {
    check_replica(machine_name, version, machine.model_hash(), model, now);
  }
  seen.version = version;
  seen.taken = taken;
  if (!accounted_) return;
  Account& account = accounts_[agent];
  if (Status status = account.take(taken, restarted); !status.ok()) {
    return complain(now, "conservation", status, machine_name);
  }
  const SharedFloats residual = machine.residual();
  complain(now, "conservation",
           account.check(residual ? residual->data() : nullptr, machine.undecided()), machine_name);
}

double Ledger::conservation_error_max() const {
  double worst = 0;
  for (const Account& account : accounts_) worst = std::max(worst, account.error_max());
  return worst;
}

}  // namespace tributary
