// What the rim tells a state machine. Both machines have the same events; each ignores, and counts,
// those that are not for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/net/shared_slice.h"
#include "core/round/common/machine/plan_advice.h"
#include "core/round/common/machine/readings.h"
#include "core/round/common/machine/records.h"

namespace tributary {

// Nanoseconds of the machine's steady clock. Never goes backwards.
using TimeNs = std::int64_t;
constexpr TimeNs kNsPerMs = 1'000'000;
constexpr TimeNs kNever = INT64_MAX;

// A connection, as the rim numbers them: a coordinator's number is never given to a second
// connection. An agent has one, to its coordinator, and its number is of no matter.
using PeerId = std::uint64_t;

// Numbers what a machine asks for, so that the answer finds its way. Unique within a machine's
// life.
using Token = std::uint64_t;

// A message as it came from the transport. The bytes are borrowed for the call.
struct FrameReceived {
  PeerId peer = 0;
  ByteSpan frame;
  ByteSpan payload;
  // The agent id that the allow-list ties to the peer's key; empty: the transport does not know,
  // and an agent is who it says it is.
  std::string_view authenticated_as;
  // That the transport has proven; empty: nothing is encrypted.
  ByteSpan authenticated_key = {};
  // Nothing else was being done when it came, so that now is when it came. False: it may have lain
  // in a queue.
  bool waited_for = false;
};

// Optional for the coordinator, which learns of a peer by its first frame. An agent begins its
// Hello with it.
struct PeerConnected {
  PeerId peer = 0;
};

// Optional: who is silent for too long is lost all the same.
struct PeerDisconnected {
  PeerId peer = 0;
};

// Optional: bytes of this peer have arrived since it was last heard, although no whole message may
// have. On a slow link a large message is on its way for longer than a silent peer is waited for.
struct PeerAlive {
  PeerId peer = 0;
};

// Time has passed. Due at next_wakeup_ns() of the machine; earlier is harmless, later is late.
struct Tick {};

// The answer to StoreCoordinator and StoreAgent, of which there is never more than one without an
// answer. An error means that nothing of the record is stored; the machine asks again later.
struct Stored {
  Token token = 0;
  Status status;
};

// --- agent -------------------------------------------------------------------------------------

// What an agent may measure beside the loss: of the model that the round begins with, on examples
// that it was not trained with; and how far its account of updates is off (edge_agent/auditor.h).
struct AgentMetric {
  ReadingKind kind = ReadingKind::evaluation_loss;  // of ReadingGroup::agent
  double value = 0;
};

// The answer to Train. The update is as long as the model, and is the machine's from then on: it is
// changed in place unless somebody else still holds it.
struct UpdateReady {
  Token token = 0;
  std::shared_ptr<FloatVector> update;
  double loss = 0;
  std::uint64_t examples = 0;
  std::uint32_t local_steps = 0;
  double compute_s = 0;
  std::vector<AgentMetric> metrics = {};
};

// Before UpdateReady, where the trainer knows it: of the same update, everything from `first_value`
// on is final. What lies before is still being computed. The last layers are done first, so that
// they can be sent meanwhile.
struct UpdatePart {
  Token token = 0;
  std::uint64_t first_value = 0;
  SharedFloats update;  // as long as the model
};

struct UpdateFailed {
  Token token = 0;
  Status status;
};

// Of the peers that OpenPeers named: a message of theirs, in the order in which they sent it. Who
// has sent it is proven. The frame is borrowed for the call.
struct PeerFrameReceived {
  std::uint64_t session = 0;  // OpenPeers::session
  std::uint32_t from = 0;     // the member
  ByteSpan frame;
  SharedSlice payload;
};

// The peer cannot be reached, or its connection has ended: nothing more of it comes in this
// session.
struct PeerLost {
  std::uint64_t session = 0;
  std::uint32_t member = 0;
  Status why;
};

// Two samples for each pair, at most, and one message is well below its cap.
inline constexpr std::size_t kLinksToldMax = 1024;

// To be told to the coordinator. A figure that is 0 is not known; `to` is this agent, which has
// measured the way from the other.
struct TellLinks {
  std::vector<wire::LinkSampleT> links;
};

// How quick this device is at its codecs: told now, where there is a coordinator, and with every
// greeting.
struct TellSpeeds {
  std::vector<wire::CodecOfferT> codecs;
};

// --- coordinator -------------------------------------------------------------------------------

// Sends so many messages in a row to an agent, each of which it is to echo: every echo that comes
// is told by ProbeEchoed. None comes from an agent that is not there, or that has echoed enough.
struct ProbeLink {
  std::string agent_id;
  std::uint64_t probe = 0;  // not 0
  std::uint32_t parts = 1;
  std::uint32_t padding_bytes = 0;       // of each part, at most kProbePaddingMax
  std::uint32_t echo_padding_bytes = 0;  // of each echo, the same
};

// The answer to LoadRound. Nothing: the journal has no such round, it was never committed.
struct RoundLoaded {
  Token token = 0;
  std::optional<RoundRecord> round;
  std::optional<EpochRecord> epoch;
};

// Commands are answered by CommandDone once they are durable.
struct SubmitJob {
  Token command = 0;
  wire::JobT definition;  // job, revision and state are set by the machine where they are 0
  RoundPolicy policy;
  SharedFloats model;  // version 0
};

struct ChangeJob {
  Token command = 0;
  std::uint64_t job = 0;
  wire::JobState state = wire::JobState::running;  // running, paused or stopped
  std::string reason;
};

// What rounds of this job are to be like from the next one on. Ignored where the job leaves nothing
// open, or the advice cannot be carried out: then rounds go on as they did.
struct PlanAdvised {
  std::uint64_t job = 0;
  std::shared_ptr<const PlanAdvice> advice;
};

// --- both --------------------------------------------------------------------------------------

// Says goodbye. The rim may end once the machine's `idle()` is true, or when it has waited enough.
struct Shutdown {
  std::string reason;
};

using Event =
    std::variant<FrameReceived, PeerConnected, PeerDisconnected, PeerAlive, Tick, Stored,
                 UpdatePart, UpdateReady, UpdateFailed, PeerFrameReceived, PeerLost, TellLinks,
                 TellSpeeds, ProbeLink, RoundLoaded, SubmitJob, ChangeJob, PlanAdvised, Shutdown>;

// A label for counts and notes.
std::string_view name_of(const Event& event);

}  // namespace tributary
