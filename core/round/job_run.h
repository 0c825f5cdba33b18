// The coordinator's side of the job at work: its members, its rounds, and what its agents need to
// be where the job is.
//
//   waiting ── enough agents are ready ──> opening ── the epoch is stored ──> running
//      ^                 (same members: straight to running)                    │
//      │                                                                        ├─ every bucket
//      closed: ├────────────── stored, published <── committing <── outcomes ───────────┤
//      └────────────── after a pause <────── backing_off <── none ──────────────┘
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/round/active_round.h"
#include "core/round/coordinator_desk.h"
#include "core/round/history.h"
#include "core/round/plan_builder.h"

namespace tributary {

class JobRun {
 public:
  static Result<std::unique_ptr<JobRun>> make(CoordinatorDesk& desk, RestoredJob job);

  // --- sessions ---
  wire::StandingT standing(const AgentSession& session) const;
  // The session has been welcomed. `before` is the number of the one that it continues; 0: none.
  void joined(AgentSession& session, std::uint64_t before);
  void left(AgentSession& session);
  // Takes over what messages of this session took so far.
  void count(AgentSession& session);
  void answered(AgentSession& session, const Conversation::Asked& asked);
  void refused(AgentSession& session, const Conversation::Asked& asked,
               const wire::Refusal& refusal);
  // A fresh message of a kind that is about the job.
  void receive(AgentSession& session, const wire::Frame& frame, ByteSpan payload);
  void loaded(const RoundLoaded& event);

  // --- the job ---
  void tick();
  TimeNs next_due_ns() const;
  void change(wire::JobState state, std::string reason, std::function<void()> done);
  void advise(std::shared_ptr<const PlanAdvice> advice);
  bool over() const;  // finished or stopped, and that is stored

  const JobRecord& record() const { return record_; }
  Coordinator::JobView view() const;
  bool wants(const std::string& agent_id) const;
  const JobModel& model_of_job() const { return *job_; }
  std::uint64_t version() const { return version_; }
  std::uint64_t model_hash() const { return model_hash_; }
  const SharedFloats& model() const { return model_; }
  const SharedFloats& aggregator_residual() const { return committed_residual_; }
  RoundKey current_round() const { return round_ ? round_->key() : RoundKey{}; }
  bool ready(const AgentSession& session) const;
  std::uint32_t window() const;  // parts that an agent may have under way
  bool committing() const { return phase_ == Phase::committing; }
  std::uint64_t buffered_bytes() const;
  std::uint64_t incoming_bytes() const { return round_ ? round_->incoming().bytes() : 0; }

 private:
  enum class Phase { waiting, opening, running, committing, backing_off, over };

  struct EpochMember {
    std::string agent_id;
    std::uint64_t incarnation = 0;
    std::uint64_t session = 0;     // the last that it had
    std::uint32_t generation = 0;  // of the session, when the epoch began
    double weight = 1;
    Bytes public_key;
    std::string endpoint;
  };

  // How exchanges among peers go in this epoch, where the job asks for them.
  struct PeerState {
    std::uint64_t session = 0;  // of the epoch; 0: they cannot reach one another
    std::string why_not;
    bool renew = false;   // members may remember different things: an epoch has to begin
    bool broken = false;  // an exchange failed: connections are to be made anew
    std::uint64_t failed_round = 0;
    std::uint64_t from_round = 0;  // until then rounds go by the star
    std::uint32_t pause = 0;       // rounds, after the next failure twice as many
  };

  struct Snapshot {
    std::uint64_t version = 0;
    std::uint64_t model_hash = 0;
    SharedFloats model;
    SharedBytes rule_state;
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;
  };

  JobRun(CoordinatorDesk& desk, std::shared_ptr<const JobModel> job, RestoredJob state);
  Status restore(RestoredJob& state);
  Status redo(const CommitRecord& commit);

  // rounds
  void maybe_begin();
  bool waits_for_catching_up();
  bool membership_changed() const;
  void open_epoch();
  void announce_epoch();
  void send_membership(AgentSession& session, std::uint32_t member);
  void begin_attempt();
  double weight_of(const std::string& agent_id, std::uint64_t most) const;
  std::uint64_t most_examples() const;
  Bitmap choose_participants() const;
  Bitmap drawn_from(const Bitmap& candidates) const;
  Status start_round(const Bitmap& participants);
  // `member` of the epoch; none: it only follows.
  void send_plan(AgentSession& session, const std::shared_ptr<const RoundPlan>& plan,
                 std::optional<std::uint32_t> member);
  void close_where_complete();
  void close_stage(BucketAggregation& bucket);
  void close_overdue();
  // planned
  const RoundPolicy& policy() const { return planned_ ? *planned_ : record_.policy; }
  bool wants_peers() const;
  void plan_reason(PlanRequest& request);
  void plan_ratios(PlanRequest& request);
  void refuse_advice(const Status& why);
  void tell_planner(const AgentSession& session, const wire::Report& report);
  void tell_planner(const RoundRecord& record);
  // by peers
  std::string apart() const;
  void open_peers();
  wire::Collective collective_for(const Bitmap& participants, std::string& reason) const;
  std::uint32_t exchanges_for(wire::Collective collective, std::string& reason);
  std::uint32_t attempt_deadline_ms(wire::Collective collective) const;
  void close_if_agreed();
  void peers_failed();
  bool uploaded(std::uint32_t member) const;
  std::string without_result() const;
  // whether the links are fast enough for the attempt's deadline
  void watch_deadline();
  bool waits_for_downlinks() const;
  DeadlineInput deadline_input() const;
  void check_deadline();
  void pause_if_too_short(const RoundKey& key, const std::optional<DeadlineVerdict>& verdict);
  void finish_round();
  void give_up(wire::AbortReason reason, bool retry);
  void commit();
  std::vector<BucketAggregation*> apply_buckets(FloatVector& model);
  CommitRecord record_commit(const std::vector<BucketAggregation*>& buckets,
                             const FloatVector& model);
  double divisor_of_bucket(const BucketAggregation& bucket) const;
  void record_outcomes(const std::vector<BucketAggregation*>& buckets, RoundRecord& record) const;
  Published publish_of(const std::vector<BucketAggregation*>& buckets,
                       std::shared_ptr<const RoundRecord> record);
  bool checkpoint_due() const;
  struct Committed {
    Published published;
    SharedFloats model;
    SharedBytes rule_state;
    SharedFloats residual;
    bool checkpointed = false;
  };
  void committed(Committed commit);
  void report_lines();
  void report_bytes();
  void finish_if_done();

  // payloads
  enum class SentAs { preliminary, update, result };
  void receive_part(AgentSession& session, const wire::Part& part, std::uint32_t agent_index,
                    SentAs sent_as, ByteSpan payload);
  void take_part(AgentSession& session, std::uint32_t member, BucketAggregation& bucket,
                 const wire::Part& part, ByteSpan payload);
  void take_payload(AgentSession& session, std::uint32_t member, BucketAggregation& bucket,
                    ByteSpan payload);
  Status add_payload(std::uint32_t member, BucketAggregation& bucket, ByteSpan payload);
  bool wanted_from(std::uint32_t member, std::uint32_t bucket) const;
  void send_receipt(AgentSession& session, std::uint32_t bucket, std::uint32_t stage,
                    std::uint64_t received_bytes, std::uint32_t window);
  void call_waiting();
  void send_aggregate(AgentSession& session, const RoundKey& key, std::uint32_t bucket,
                      std::uint32_t stage, std::uint32_t contributors, const SharedBytes& payload,
                      std::uint64_t from);
  void receive_receipt(AgentSession& session, const wire::Receipt& receipt);
  void receive_announcement(AgentSession& session, const wire::Receipt& receipt);
  std::uint32_t part_bytes() const;
  bool many() const;
  bool called() const;
  std::uint64_t incoming_bytes_max() const;

  // members
  std::optional<std::uint32_t> member_of(const AgentSession& session) const;
  void serves(AgentSession& session);
  void advance(AgentSession& session);
  void send_commit(AgentSession& session, const Published& round);
  std::optional<std::uint64_t> known_hash(std::uint64_t version) const;
  void check_replica(AgentSession& session, std::uint64_t version, std::uint64_t hash);
  double ratio_of(std::uint32_t member) const;
  void receive_report(AgentSession& session, const wire::Report& report);
  void read_metrics(const AgentSession& session, const wire::Report& report);
  void receive_applied(AgentSession& session, const wire::Applied& applied);
  void receive_abort(AgentSession& session, const wire::Abort& abort);
  void receive_request(AgentSession& session, const wire::TransferRequest& request);
  void send_model(AgentSession& session, const Snapshot& source, std::uint64_t from);
  void receive_fetch(AgentSession& session, const wire::TransferFetch& fetch);
  void stop_transfer(AgentSession& session);
  void offer(AgentSession& session);
  const Snapshot& snapshot();
  std::ptrdiff_t transfers() const;
  void offer_to_waiting();
  std::optional<Fate> fate_of(const AgentSession& session, const RoundKey& id) const;
  std::optional<std::vector<wire::SettlementT>> settlements(const AgentSession& session,
                                                            std::uint64_t version);
  void send_job(AgentSession& session);
  void send_state(AgentSession& session);

  CoordinatorDesk& desk_;
  JobRecord record_;
  std::shared_ptr<const JobModel> job_;
  std::unique_ptr<ModelRule> rule_;
  std::uint64_t version_ = 0;
  std::uint64_t model_hash_ = 0;
  SharedFloats model_;
  SharedBytes rule_state_;           // that belongs to model_
  SharedFloats committed_residual_;  // the aggregator's, likewise; null: none
  FloatVector aggregator_residual_;  // at work; empty until a codec keeps one
  double residual_rate_ = 0;         // the learning rate in whose units that one is; 0: none yet
  FloatVector scratch_;
  std::uint64_t journal_entry_ = 0;
  std::uint64_t checkpoint_version_ = 0;
  std::uint64_t redo_bytes_ = 0;  // since the checkpoint
  History history_;
  bool state_stored_ = true;

  Phase phase_ = Phase::waiting;
  TimeNs waiting_since_ns_ = -1;
  TimeNs resume_at_ns_ = 0;  // from backing off
  std::uint32_t last_epoch_ = 0;
  std::vector<EpochMember> members_;  // of the epoch
  std::map<std::string, std::uint32_t> member_by_agent_;
  std::shared_ptr<const EpochRecord> epoch_;
  PeerState peers_;
  std::uint32_t attempt_ = 0;
  Bitmap excluded_;  // from the next attempt: those that nothing came from in the last
  std::unique_ptr<ActiveRound> round_;
  std::uint32_t too_short_ = 0;  // attempts, one after the other, that an uplink was too slow for
  std::shared_ptr<const PlanAdvice> advice_;    // the last that can be carried out; null: none
  std::unique_ptr<const RoundPolicy> planned_;  // the job's, as advised
  std::uint64_t advice_round_ = 0;              // whose plan says why; 0: the next one will
  std::vector<AgentRoundRecord> reports_;
  MessageBytes up_;  // of messages, since the last commit
  MessageBytes down_;
  RepeatedBytes repeats_;
  std::map<std::string, std::uint64_t> examples_;  // by agent, where updates are weighted by them

  std::optional<Snapshot> snapshot_;
  TimeNs snapshot_kept_until_ns_ = 0;  // for agents that have lost their session while downloading
  bool transfers_wait_ = false;        // somebody may be waiting for one
  struct Loading {
    std::uint64_t session = 0;
    std::uint64_t round = 0;
  };
  std::map<Token, Loading> loading_;
  // What the journal has just said, for as long as it takes to answer by it.
  std::map<std::uint64_t, std::pair<RoundRecord, EpochRecord>> loaded_;
};

}  // namespace tributary
