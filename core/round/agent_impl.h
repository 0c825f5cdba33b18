// Inside the agent: the connection (agent.cc) and what it is like (agent_links.cc), how it gets its
// job and its model (agent_replica.cc), and the rounds: what it contributes (agent_rounds.cc), the
// training before that (agent_training.cc), what it exchanges with peers (agent_peers.cc), and what
// comes back (agent_results.cc).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/cost/echo_allowance.h"
#include "core/round/agent.h"
#include "core/round/agent_round.h"
#include "core/round/conversation.h"
#include "core/round/model_download.h"
#include "core/round/residual_account.h"
#include "core/round/store_queue.h"

namespace tributary {

class Agent::Impl {
 public:
  explicit Impl(AgentConfig config) : config_(std::move(config)) {}

  Status restore(AgentState state);
  Actions handle(TimeNs now, Event& event);
  TimeNs next_wakeup_ns() const;

  AgentConfig config_;
  TimeNs now_ = 0;
  Actions out_;
  StoreQueue<AgentRecordToStore> store_;

  // --- connection ---
  enum class Line { offline, greeting, online };
  Line line_ = Line::offline;
  std::optional<Conversation> talk_;
  std::uint64_t hello_id_ = 0;
  TimeNs hello_at_ns_ = 0;
  TimeNs hello_wait_ns_ = 0;
  bool has_connection_ = false;
  TimeNs unheard_since_ns_ = kNever;  // the first Hello since anything was heard
  std::uint32_t duplicate_refusals_ = 0;
  bool shutting_down_ = false;
  bool finished_ = false;
  EchoAllowance echoes_;
  bool speeds_to_tell_ = false;  // measured, and in no Hello that was sent

  // --- replica ---
  std::shared_ptr<const JobModel> job_;
  AgentJobRecord job_record_;
  std::unique_ptr<ModelRule> rule_;
  std::uint64_t version_ = 0;
  std::uint64_t model_hash_ = 0;
  std::shared_ptr<FloatVector> model_;  // null: none yet; a commit changes it in place
  ResidualAccount residual_;
  CodecShelf codecs_;
  EncoderShelf encoders_;
  FloatVector scratch_;

  // --- membership and rounds ---
  std::uint32_t epoch_ = 0;
  std::uint32_t member_ = 0;
  std::unique_ptr<AgentRound> round_;
  // Rounds that cannot begin yet, at most kNextRoundsMax; what comes for them is kept.
  std::map<RoundKey, std::unique_ptr<AgentRound>> next_rounds_;
  std::unique_ptr<wire::CommitT> commit_;  // of round_, or of a round whose plan is still to come
  // Since when nothing has come that commit_ waits for.
  TimeNs commit_waits_since_ns_ = 0;
  struct Training {
    Token token = 0;
    std::shared_ptr<const RoundPlan> plan;
    std::uint32_t exchange = 0;
  };
  std::optional<Training> training_;
  // Of training_: waits until the residual is stored that it is to be added to.
  std::optional<UpdateReady> waiting_update_;
  SharedFloats update_;  // of the last round, where a codec does not conserve
  Token last_token_ = 0;
  PeerGroup peers_;
  PeerShelf peer_shelf_;
  struct Measured {
    double loss = 0;
    std::uint64_t examples = 0;
    std::uint32_t local_steps = 0;
    double compute_s = 0;
    double update_norm = 0;
    std::vector<AgentMetric> metrics = {};
    wire::GainCurveT gain = {};  // where the plan asks for it
  };
  Measured measured_;
  // A round is reported on when its payloads are made: what comes after is told with the next one.
  struct RoundBefore {
    std::uint64_t bytes_up = 0;
    std::uint64_t bytes_down = 0;
    double wait_s = 0;
    double decode_s = 0;
    std::vector<wire::TrialT> trials = {};  // of this and earlier ones, that nobody was told of
  };
  RoundBefore before_;
  RepeatedBytes repeats_;  // of sessions, since the last commit

  // --- transfer ---
  std::unique_ptr<ModelDownload> download_;  // null: none has begun
  bool transfer_requested_ = false;

 private:
  static constexpr std::size_t kNextRoundsMax = 4;

  // events
  void on(const FrameReceived& event);
  void on(const PeerConnected& event);
  void on(const PeerDisconnected& event);
  void on(const PeerAlive&) {
    if (talk_) talk_->heard(now_);
  }
  void on(const Tick&) { try_codecs(); }
  void on(const Stored& event) { store_.stored(now_, event, out_); }
  void on(const UpdatePart& event);
  void on(UpdateReady& event);
  void on(const UpdateFailed& event);
  void on(const PeerFrameReceived& event);
  void on(const PeerLost& event);
  void on(const TellLinks& event);
  void on(const TellSpeeds& event);
  void tell_speeds();
  void on(const ProbeLink&) { not_for_us("probe_link"); }
  void on(const RoundLoaded&) { not_for_us("round_loaded"); }
  void on(const SubmitJob&) { not_for_us("submit_job"); }
  void on(const ChangeJob&) { not_for_us("change_job"); }
  void on(const PlanAdvised&) { not_for_us("plan_advised"); }
  void on(const Shutdown& event);
  void not_for_us(std::string_view what);

  // connection
  void note(LogLevel level, std::string_view name, std::string_view reason, std::string text);
  void refuse_frame(std::string_view reason, std::string text) {
    note(LogLevel::warning, "frame_refused", reason, std::move(text));
  }
  void send_hello();
  void give_up_silent_connection();
  void hang_up(std::string_view reason, TimeNs again_after_ns);
  void welcomed(const wire::Welcome& welcome, std::uint64_t session);
  void refused(const wire::Frame& frame, const wire::Refusal& refusal);
  void finish(Status status);
  void in_session(const wire::Frame& frame, const FrameReceived& event);
  void dispatch(const wire::Frame& frame, const FrameReceived& event);
  void receive_probe(const wire::LinkProbe& probe, bool waited_for);
  void look_after_connection();
  void answer(std::uint64_t message_id);
  void refuse_message(std::uint64_t message_id, wire::RefusalCode code, const Status& status);
  friend class Agent;

  // job and model
  void receive_job(const wire::Job& job, std::uint64_t message_id);
  Status take_job(const wire::Job& job);
  void receive_job_change(const wire::JobChange& change, std::uint64_t message_id);
  void receive_offer(const wire::TransferOffer& offer, std::uint64_t message_id);
  void receive_part(const wire::TransferPart& part, ByteSpan payload);
  void ask_for_download();
  void store_download();
  void finish_download();
  Status take_model(const ModelDownload& download);
  Status settle_by(const wire::TransferOfferT& offer);
  void request_transfer(wire::TransferReason reason);
  ReplicaRecord replica_record() const;

  // rounds
  void receive_membership(const wire::Membership& membership);
  void receive_plan(const wire::Plan& plan, std::uint64_t message_id);
  bool can_begin(const RoundPlan& plan) const;
  void begin_round(std::unique_ptr<AgentRound> round);
  void try_next_round();
  void close_round();
  void start_work();
  void train();
  bool residual_is_being_stored() const { return !store_.empty() && residual_.held(); }
  bool whole_bucket_in(std::uint64_t first, std::uint64_t end) const;
  void trained(UpdateReady& event);
  void take_waiting_update();
  void take_update(const Training& training, UpdateReady& event);
  void take_beside_residual(const RoundPlan& plan, std::span<const float> update, float weight);
  void save_late_update(const RoundKey& id);
  bool has_input(const PlannedBucket& bucket) const;
  void encode_all();
  void encode_ready();
  void encode(std::uint32_t bucket);
  void encode_stages(std::uint32_t bucket);
  Status encode_stage(const PlannedBucket& bucket, BucketWork& work, std::uint32_t stage);
  std::span<const float> input_of(const PlannedBucket& bucket);
  void save_contributions();
  void send(AgentRound::LastPayloads&& payloads);
  void open_peers(const wire::Membership& membership);
  void close_peers();
  std::uint32_t first_bucket() const;  // of the exchange that is under way
  bool exchanging() const;
  Result<std::unique_ptr<PeerRound>> make_exchange();
  void begin_exchange();
  void continue_exchange();
  void pass_on(PeerSends& sends);
  void take_piece(std::uint32_t from, ByteSpan frame, SharedSlice payload);
  void keep_piece(std::uint32_t from, ByteSpan frame, SharedSlice payload);
  void take_results(std::uint32_t bucket);
  void finish_exchange();
  Result<std::vector<ContributionPart>> left_over_parts();
  void prepare(std::vector<ContributionPart> parts);
  Status go_ahead();
  void say_again_of_exchange();
  void withdraw(wire::AbortReason reason, const Status& status);
  void measure_gain();
  void begin_trials();
  bool trying() const;
  void try_codecs();
  void end_trials();
  void report();
  void pump_payloads();
  void drop_round();
  Outgoing::Session upload();
  void receive_aggregate(const wire::Aggregate& aggregate, ByteSpan payload);
  void receive_receipt(const wire::Receipt& receipt);
  void receive_abort(const wire::Abort& abort);
  void receive_commit(const wire::Commit& commit);
  void try_commit();
  bool has_everything(const wire::RoundOutcomeT& outcome);
  void apply_commit(const wire::RoundOutcomeT& outcome);
  Status apply_outcome(const wire::RoundOutcomeT& outcome, FloatVector& model);
  void committed(std::uint64_t hash);
  void count_repeats();
  void report_repeats(const RoundKey& round);
  void lose_model();
  void send_applied(const RoundKey& id, std::uint64_t hash);
  Bitmap contributed(const wire::RoundOutcomeT& outcome) const;
  void settle_encoders(const wire::RoundOutcomeT& outcome, const Bitmap& counted);
  void ask_for_missing();
  void aggregate_is_coming();
  TimeNs commit_overdue_ns() const;
  void replace_overdue_commit();
};

}  // namespace tributary
