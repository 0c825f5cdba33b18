// Reports an agent's part in the rounds to the coordinator: the results of training, the cost of
// the previous round, the gain of codecs, the results of codec trials, and repeated payload bytes.
//
// The report of a round is sent when its payloads are made, so costs after that are part of the
// next report. The caller decides when a round is ready for its report. Order of calls in a round:
// measured, measure_gain, begin_trials, report, then committed or not, then drop_round. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/common/plan/codec_trials.h"

namespace tributary {

class AgentReporter {
 public:
  AgentReporter(AgentContext& context, ClientSession& session)
      : context_(context), session_(session) {}

  // Records the results of training.
  void measured(const UpdateReady& update, double update_norm);
  // Keeps for the report when each layer of the update was final, if the plan asks for it. `layers`
  // are the job's.
  void measure_ready(const RoundPlan& plan, const UpdateReady& update, const LayerMap& layers);
  // Measures the gain if the plan asks for it. `input` is the input of the codecs; null: nothing is
  // measured.
  void measure_gain(const RoundPlan& plan, const SharedFloats& input);

  // --- codec trials, in steps, while the agent waits for the others ---
  void begin_trials(const RoundPlan& plan, std::uint32_t rank,
                    const CodecTrials::InputOf& input_of);
  bool trying() const;
  // Runs the next step.
  void try_next(CodecCache& codecs);
  // Keeps the results so far for the next report.
  void end_trials();

  // The values of a report that other parts of the agent know.
  struct Facts {
    ModelId model;  // with which the round began
    double residual_norm = 0;
    std::uint64_t results_hash = 0;  // of exchanges among peers or in the network; 0: none
    std::optional<wire::SumsCheckT> sums_check = {};  // of sums in the network
  };
  // True if a session is open and the round was not reported yet.
  bool can_report() const { return session_.is_open() && !reported_; }
  // Sends the report. Requires can_report() and that this agent participates in the round.
  void report(AgentRound& round, const Facts& facts);
  // Allows another report in a new session, because the old one may have lost it. Returns false if
  // none was sent.
  bool forget_report();

  // The round is committed: keeps its costs for the next report.
  void committed(const AgentRound& round);
  // The round is over. Drops trials whose results were not kept.
  void drop_round();

 private:
  // The results of the last training.
  struct Measured {
    double loss = 0;
    std::uint64_t examples = 0;
    double compute_s = 0;
    double update_norm = 0;
    std::vector<AgentMetric> metrics = {};
    wire::GainCurveT gain = {};       // empty: not measured
    wire::GainCurveT rate_gain = {};  // empty: not measured
    std::vector<float> ready_s = {};  // by layer; empty: not wanted
  };
  // Costs and results for the next report.
  struct RoundBefore {
    std::uint64_t bytes_up = 0;
    std::uint64_t bytes_down = 0;
    double wait_s = 0;
    double decode_s = 0;
    double exchange_s = 0;
    // Since the last report, the newest result of each codec.
    std::vector<wire::TrialT> trials = {};
  };

  void measure_rates(const RoundPlan& plan, std::span<const float> input);
  static wire::ReportT make_report(const RoundKey& key, std::uint32_t member, const Facts& facts,
                                   const Measured& measured, const RoundBefore& before,
                                   double encode_s);

  AgentContext& context_;
  ClientSession& session_;
  Measured measured_;
  RoundBefore before_;
  bool reported_ = false;
  TimeNs reported_at_ns_ = 0;
  std::optional<CodecTrials> trials_;  // requested by the plan
};

}  // namespace tributary
