// What a state machine asks the rim to do, in this order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/log/log.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/readings.h"

namespace tributary {

// A run of bytes that its owner keeps alive: a part of a payload or of a model, which many peers
// get without a copy.
struct PayloadSlice {
  std::shared_ptr<const void> owner;
  ByteSpan bytes;
};

// May be lost, as anything may that is sent; the machines see to it. `payload` is the next message
// part, present (perhaps empty) exactly with the kinds of frame that have one.
struct Send {
  PeerId peer = 0;
  Bytes frame;
  bool has_payload = false;
  PayloadSlice payload = {};
};

// Nothing more will be said to this peer; its number and whatever is queued for it can be forgotten
// once what is queued has gone out. An agent's: the coordinator does not answer on the connection
// that there is, which is to be given up for another one.
struct ClosePeer {
  PeerId peer = 0;
};

template <typename Record>
struct StoreRecord {
  Token token = 0;
  Record record;
};
using StoreCoordinator = StoreRecord<CoordinatorRecord>;
using StoreAgent = StoreRecord<AgentRecordToStore>;

// Reads from the journal: answered by RoundLoaded.
struct LoadRound {
  Token token = 0;
  std::uint64_t job = 0;
  std::uint64_t round = 0;
};

// Agent: compute an update from this model; answered by UpdateReady or UpdateFailed. One at a time.
struct Train {
  Token token = 0;
  RoundKey id;
  // Counts the trainings of a job: the round, where each round has one.
  std::uint64_t training = 0;
  std::uint64_t model_version = 0;
  SharedFloats model;
  std::uint32_t local_steps = 0;
  double learning_rate = 0;
  std::uint64_t seed = 0;
  bool evaluate = false;
};

// Agent: connect to the members of an epoch, and let them connect. Replaces those before.
struct OpenPeers {
  struct Member {
    Bytes public_key;  // empty: nothing is encrypted
    std::string endpoint;
    std::string agent_id = {};
  };
  std::uint64_t session = 0;
  std::uint32_t member = 0;  // which of them this agent is
  std::vector<Member> members;
};

struct ClosePeers {};

// To a member of the session that was opened last. Not lost unless the connection is, of which
// PeerLost tells.
struct SendToPeer {
  std::uint32_t member = 0;
  Bytes frame;
  SharedSlice payload;
};

// Something happened that is to be counted, and logged: what is at warning or above at most once
// per source and minute. Names are few and fixed ("frame_refused"), reasons too ("wrong_session"),
// so that both can be labels; text is for people.
struct Note {
  LogLevel level = LogLevel::info;
  std::string_view name = {};
  std::string_view reason = {};
  std::string source = {};  // an agent id, or what is known of the peer
  std::string text = {};
  std::uint64_t job = 0;
  std::uint64_t round = 0;
};

// A reading for the exporters and the journal.
struct Reading {
  ReadingKind kind = ReadingKind::round_s;
  double value = 0;  // in the unit of its kind
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::string agent_id = {};  // empty: the machine's own
};

// For a planner, of a job that leaves choices to one: what an agent says of its part in a round.
// May come before or after the round's end.
struct AgentReported {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::string agent_id;
  double compute_s = 0;
  std::vector<float> ratios;  // of the gain; may be empty
  std::vector<float> gains;
  std::uint64_t bytes = 0;                // both ways, in the round before
  std::vector<wire::TrialT> trials = {};  // of codecs, in rounds before
};

// The same of a round that is committed.
struct RoundPlayed {
  struct Participant {
    std::string agent_id;
    double weight = 1;
  };
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::uint64_t rounds_left = 0;
  std::uint64_t values = 0;
  Planning planning;
  RoundChoice choice;
  double round_s = 0;
  std::uint64_t bytes_up = 0;  // of the payloads that came here
  std::vector<Participant> participants;
  bool peers_reachable = false;  // they have exchanged among themselves, or could
};

// An echo of what ProbeLink has sent, or so it says: who measures knows whether it was asked for.
struct ProbeEchoed {
  std::string agent_id;
  std::uint64_t probe = 0;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;           // of the echo, frame and padding
  std::uint64_t received_at_ns = 0;  // by the agent's clock; 0: it does not know
  std::uint64_t answered_at_ns = 0;  // the same clock
  TimeNs at_ns = 0;                  // when it came, by ours
  bool waited_for = false;           // as FrameReceived has it
};

// What an agent says of the ways from its peers; who they are has been checked, figures have not.
struct LinksTold {
  std::string agent_id;
  std::vector<wire::LinkSampleT> links;
};

// How quick an agent's device is at codecs, as far as it has measured them. It may name codecs that
// nobody here knows.
inline constexpr std::size_t kSpeedsToldMax = 256;
struct SpeedsTold {
  std::string agent_id;
  std::vector<wire::CodecOfferT> codecs;
};

struct CommandDone {
  Token command = 0;
  Status status;
  std::uint64_t job = 0;
};

// The machine has ended and takes no more events: after Shutdown, or because going on is of no use
// (refused for good), which the status says.
struct Finished {
  Status status;
};

using Action =
    std::variant<Send, ClosePeer, StoreCoordinator, StoreAgent, LoadRound, Train, OpenPeers,
                 ClosePeers, SendToPeer, Note, Reading, ProbeEchoed, LinksTold, SpeedsTold,
                 AgentReported, RoundPlayed, CommandDone, Finished>;
using Actions = std::vector<Action>;

}  // namespace tributary
