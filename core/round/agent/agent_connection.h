// Connects an agent to its coordinator: says Hello until a Welcome opens the session, notices when
// the session is lost, and begins again.
//
// The caller passes in every event of the transport and every frame, asks after every event whether
// a Hello is due, and acts on each returned Change. A refusal for good ends the agent (Finished).
// The session is borrowed: only the connection opens and closes it.
//
// Threads: one at a time.
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
  enum class Change : std::uint8_t { none, session_opened, session_lost };
  struct Received {
    Change change = Change::none;
    // A message of the session, or the Welcome that has opened it. Null: nothing is left to do.
    const wire::Frame* frame = nullptr;
  };

  AgentConnection(AgentContext& context, ClientSession& session)
      : context_(context), session_(session) {}

  // --- events of the transport ---
  void connected();
  [[nodiscard]] Change disconnected();
  // `aligned` holds the bytes of the frame where they had to be copied: it stays as long as the
  // frame is used. A frame that breaks a rule is refused with a note.
  [[nodiscard]] Received receive(const FrameReceived& event, Bytes& aligned);

  // --- time ---
  bool hello_due() const;
  // `holding` is what the agent has of its job; null: it has none.
  void send_hello(std::unique_ptr<wire::CapabilitiesT> capabilities,
                  std::unique_ptr<wire::HoldingT> holding);
  // Sends the heartbeat when it is due. Nothing while no session is open.
  [[nodiscard]] Change look_after_session(wire::Activity activity, const RoundKey& round);
  TimeNs next_due_ns() const;

  // Ends the session, if there is one; the next Hello is due after this time.
  [[nodiscard]] Change hang_up(std::string_view reason, TimeNs again_after_ns);
  // Says goodbye; no Hello is sent from here on.
  void shut_down(const std::string& reason);
  bool shutting_down() const { return shutting_down_; }
  // The agent has ended, and takes no more events.
  void finish(Status status);
  bool finished() const { return finished_; }

 private:
  enum class Line : std::uint8_t { offline, greeting, online };

  void give_up_silent_connection();
  void welcomed(const wire::Welcome& welcome, std::uint64_t session);
  Change refused(const wire::Frame& frame, const wire::Refusal& refusal);
  void refused_hello(const wire::Refusal& refusal, const std::string& text);

  AgentContext& context_;
  ClientSession& session_;
  Line line_ = Line::offline;  // online: exactly while the session is open
  std::uint64_t hello_id_ = 0;
  TimeNs hello_at_ns_ = 0;
  TimeNs hello_wait_ns_ = 0;
  bool has_connection_ = false;
  TimeNs unheard_since_ns_ = kNever;  // the first Hello since anything was heard
  std::uint32_t duplicate_refusals_ = 0;
  bool shutting_down_ = false;
  bool finished_ = false;
};

}  // namespace tributary
