// Inside the coordinator: sessions (coordinator.cc), jobs (coordinator_jobs.cc), what links are
// like (coordinator_links.cc), and what the outside sees (coordinator_views.cc).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/round/coordinator.h"
#include "core/round/coordinator_desk.h"
#include "core/round/job_run.h"

namespace tributary {

class Coordinator::Impl {
 public:
  explicit Impl(CoordinatorConfig config) { desk_.config = std::move(config); }

  Status restore(CoordinatorState state);
  Actions handle(TimeNs now, const Event& event);
  TimeNs next_wakeup_ns() const;

  void on(const FrameReceived& event);
  void on(const PeerConnected&) {}
  void on(const PeerDisconnected& event);
  void on(const PeerAlive& event);
  void on(const Tick&) {}
  void on(const Stored& event) { desk_.store.stored(desk_.now, event, desk_.out); }
  void on(const UpdatePart&) { not_for_us("update_part"); }
  void on(const UpdateReady&) { not_for_us("update_ready"); }
  void on(const UpdateFailed&) { not_for_us("update_failed"); }
  void on(const PeerFrameReceived&) { not_for_us("peer_frame_received"); }
  void on(const PeerLost&) { not_for_us("peer_lost"); }
  void on(const TellLinks&) { not_for_us("tell_links"); }
  void on(const TellSpeeds&) { not_for_us("tell_speeds"); }
  void on(const ProbeLink& event);
  void on(const RoundLoaded& event) {
    for (const auto& run : runs_) run->loaded(event);
  }
  void on(const SubmitJob& event);
  void on(const ChangeJob& event);
  void on(const PlanAdvised& event) {
    if (JobRun* const advised = run(event.job)) advised->advise(event.advice);
  }
  void on(const Shutdown& event);

  CoordinatorDesk desk_;
  // In the order of their submission. One that is over stays until its agents have another.
  std::vector<std::unique_ptr<JobRun>> runs_;
  std::vector<Coordinator::JobView> done_;  // those before

  JobRun* run(std::uint64_t job) const;
  JobRun* run_of(const AgentSession& session) const { return run(session.run); }
  // The first that is not over; else the last. Null: none.
  JobRun* run_at_work() const;

 private:
  static constexpr std::size_t kJobsMax = 64;

  void not_for_us(std::string_view what) {
    desk_.note(LogLevel::warning, "event_ignored", what, {}, "not an event of a coordinator");
  }
  std::string source_of(const FrameReceived& event) const;
  void refuse_stranger(const FrameReceived& event, const wire::Frame& frame, wire::RefusalCode code,
                       std::string_view reason, Fault fault, bool closes,
                       std::uint32_t retry_after_ms = 0);

  void hello(const FrameReceived& event, const wire::Frame& frame);
  bool may_come_in(const FrameReceived& event, const wire::Frame& frame, const wire::Hello& hello);
  void welcome(const FrameReceived& event, const wire::Frame& frame, const wire::Hello& hello,
               std::uint64_t before);
  void send_welcome(AgentSession& session, std::uint64_t hello_id);
  void in_session(AgentSession& session, const wire::Frame& frame, const FrameReceived& event);
  void receive_echo(AgentSession& session, const wire::LinkProbe& echo, const FrameReceived& event);
  using Offers = flatbuffers::Vector<flatbuffers::Offset<wire::CodecOffer>>;
  void tell_speeds(const AgentSession& session, const Offers* offers);
  void receive_telemetry(AgentSession& session, const wire::Telemetry& telemetry);
  void answer(AgentSession& session, const wire::Frame& frame);
  void lose(std::uint64_t session, std::string_view reason);
  void scan();
  JobRun* choose_run(const AgentSession& session) const;
  void share_out_agents();
  void drop_runs();
  Result<RestoredJob> new_job(const SubmitJob& event);

  TimeNs scan_at_ns_ = 0;
  bool shutting_down_ = false;
  bool finished_ = false;
  Bytes aligned_;
};

}  // namespace tributary
