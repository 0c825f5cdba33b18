// Reports on an agent's part in the rounds: the results of training, the cost of the round before,
// the gain of codecs and the results of codec trials, and payload bytes that were repeated.
//
// A round is reported on when its payloads are made; its cost after that is in the next report. The
// caller decides when a round is ready to be reported on and calls the rest in the order of a
// round: measured, measure_gain, begin_trials, report, then committed or not, and drop_round.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
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

  // An update was taken.
  void measured(const UpdateReady& update, double update_norm);
  // Only if the plan asks for it. `input` is the input of the codecs; null: it is not measured.
  void measure_gain(const RoundPlan& plan, const SharedFloats& input);

  // --- trials, in steps, while there is nothing to do but to wait for the others ---
  void begin_trials(const RoundPlan& plan, std::uint32_t rank,
                    const CodecTrials::InputOf& input_of);
  bool trying() const;
  void try_next(CodecCache& codecs);
  // Keeps the results for the next report, however far the trials have come.
  void end_trials();

  struct Facts {
    ModelId model;  // that the round began with
    double residual_norm = 0;
    std::uint64_t results_hash = 0;  // of the exchanges among peers; 0: none
  };
  // A session is open, and the round is not reported on yet.
  bool can_report() const { return session_.is_open() && !reported_; }
  // Only if it can, of a round that this agent takes part in.
  void report(const AgentRound& round, const Facts& facts);
  // The session has ended meanwhile, and may have taken the report with it. False: none was sent.
  bool forget_report();

  void committed(const AgentRound& round);
  // The round is over. Trials that were not ended are lost.
  void drop_round();

 private:
  struct Measured {
    double loss = 0;
    std::uint64_t examples = 0;
    std::uint32_t local_steps = 0;
    double compute_s = 0;
    double update_norm = 0;
    std::vector<AgentMetric> metrics = {};
    wire::GainCurveT gain = {};  // empty: not measured
  };
  // Costs and results since the last report.
  struct RoundBefore {
    std::uint64_t bytes_up = 0;
    std::uint64_t bytes_down = 0;
    double wait_s = 0;
    double decode_s = 0;
    std::vector<wire::TrialT> trials = {};  // of all rounds since then, the newest of each codec
  };

  static wire::ReportT make_report(const RoundKey& key, std::uint32_t member, const Facts& facts,
                                   const Measured& measured, const RoundBefore& before,
                                   double encode_s);

  AgentContext& context_;
  ClientSession& session_;
  Measured measured_;
  RoundBefore before_;
  bool reported_ = false;
  TimeNs reported_at_ns_ = 0;
  std::optional<CodecTrials> trials_;  // that the plan asks for
};

}  // namespace tributary
