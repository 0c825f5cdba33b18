// Connects an agent, or an aggregator, to its coordinator: sends Hello until a Welcome opens the
// session, handles acknowledgements and heartbeats, detects the loss of the session, and starts
// again.
//
// The caller passes every event of the transport and every frame, checks after every event whether
// a Hello is due, and handles each returned Change. A final refusal ends the agent (Finished). Only
// this object opens and closes the session, which it borrows. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"

namespace tributary {

class AgentConnection {
 public:
  // The effect of an event on the session.
  enum class Change : std::uint8_t { none, session_opened, session_lost };
  // The result of a frame.
  struct Received {
    Change change = Change::none;
    // A message of the session, or the Welcome that opened it. Null: the frame was refused, or
    // handled here, as acknowledgements and heartbeats are.
    const wire::Frame* frame = nullptr;
  };

  AgentConnection(AgentContext& context, ClientSession& session)
      : context_(context), session_(session) {}

  // --- events of the transport ---
  void connected();
  [[nodiscard]] Change disconnected();
  // Handles a frame. `aligned` holds a copy of its bytes if they had to be aligned, and must live
  // as long as the returned frame is used. A frame that breaks a rule is refused with a note.
  [[nodiscard]] Received receive(const FrameReceived& event, Bytes& aligned);

  // --- time ---
  bool hello_due() const;
  // `holding` describes the agent's job and model; null: it has none.
  void send_hello(std::unique_ptr<wire::CapabilitiesT> capabilities,
                  std::unique_ptr<wire::HoldingT> holding);
  // Sends a heartbeat if it is due, and ends the session if it is lost. Does nothing while no
  // session is open.
  [[nodiscard]] Change maintain_session(wire::Activity activity, const RoundKey& round);
  TimeNs next_due_ns() const;

  // Ends the session if one is open. The next Hello is due after `again_after_ns`.
  [[nodiscard]] Change hang_up(std::string_view reason, TimeNs again_after_ns);
  // Sends Leave. No Hello is sent afterwards.
  void shut_down(const std::string& reason);
  bool shutting_down() const { return shutting_down_; }
  // Ends the agent, which then ignores all events.
  void finish(Status status);
  bool finished() const { return finished_; }

 private:
  // State of the connection. It is online exactly while the session is open.
  enum class State : std::uint8_t { offline, greeting, online };

  void give_up_silent_connection();
  void welcomed(const wire::Welcome& welcome, std::uint64_t session);
  Change refused(const wire::Frame& frame, const wire::Refusal& refusal);
  void refused_hello(const wire::Refusal& refusal, const std::string& text);

  AgentContext& context_;
  ClientSession& session_;
  State state_ = State::offline;
  std::uint64_t hello_id_ = 0;
  TimeNs hello_at_ns_ = 0;
  TimeNs hello_wait_ns_ = 0;
  bool has_connection_ = false;
  TimeNs no_answer_since_ns_ = kNever;  // the first Hello after the last arrival
  std::uint32_t duplicate_refusals_ = 0;
  bool shutting_down_ = false;
  bool finished_ = false;
};

}  // namespace tributary
