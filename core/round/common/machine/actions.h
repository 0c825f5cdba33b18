// The outputs of the two state machines. The host (the code with the sockets, the clock and the
// files) executes them. The host handles the actions of one call in their order.
//
// An action is a plain value. It owns its bytes or shares them with their owner, so it may outlive
// the call that returned it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/log/log.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/readings.h"

namespace tributary {

// A part of a payload or of a model, shared with its owner, so that many peers receive it without a
// copy. The bytes must not change.
struct PayloadSlice {
  std::shared_ptr<const void> owner;
  ByteSpan bytes;
};

// Sends a message. It may be lost, and the machines repeat it where that matters. `payload` is the
// second part of the message; it exists, possibly empty, exactly for the kinds of frames that have
// one.
struct Send {
  PeerId peer = 0;
  Bytes frame;
  bool has_payload = false;
  PayloadSlice payload = {};
};

// The machine sends nothing more to this peer. The host closes the connection after the queued
// messages have left, and forgets the number. From an agent it means that the coordinator does not
// answer on the current connection, and that the host must open a new one.
struct ClosePeer {
  PeerId peer = 0;
};

// Stores one record in one transaction; answered by Stored. At most one is unanswered at any time.
template <typename Record>
struct StoreRecord {
  Token token = 0;
  Record record;
};
using StoreCoordinator = StoreRecord<CoordinatorRecord>;
using StoreAgent = StoreRecord<AgentRecordToStore>;

// Reads a committed round from the journal; answered by RoundLoaded.
struct LoadRound {
  Token token = 0;
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::optional<std::uint32_t> results_of = std::nullopt;  // the bucket whose results are read, too
};

// Agent: computes an update from this model; answered by UpdateReady or UpdateFailed. At most one
// runs at any time.
struct Train {
  Token token = 0;
  RoundKey id;
  // Number of this training within the job. It equals the round if each round has one training.
  std::uint64_t training = 0;
  std::uint64_t model_version = 0;
  SharedFloats model;
  std::uint32_t local_steps = 0;
  double learning_rate = 0;
  std::uint64_t seed = 0;
  bool evaluate = false;
};

// Work that a machine has handed to its host. It is done once: by the host's thread, or by the
// machine if it needs the result before. Thread-safe.
class BackgroundWork {
 public:
  explicit BackgroundWork(std::function<void()> work) : work_(std::move(work)) {}

  // The work is done when it returns.
  void run() { std::call_once(done_, work_); }

 private:
  const std::function<void()> work_;
  std::once_flag done_;
};

// Agent: does the work on another thread; answered by BackgroundDone. At most one is unanswered at
// any time, and only if AgentConfig::encodes_in_background is set. The work refers to the machine,
// so it has ended, or has not begun, when the machine is destroyed.
struct RunInBackground {
  Token token = 0;
  std::shared_ptr<BackgroundWork> work;
};

// Agent: connects to the members of an epoch and accepts their connections. Replaces the previous
// session.
struct OpenPeers {
  struct Member {
    Bytes public_key;  // empty: the connection is not encrypted
    std::string endpoint;
    std::string agent_id = {};
  };
  std::uint64_t session = 0;
  std::uint32_t member = 0;  // index of this agent in `members`
  std::vector<Member> members;
};

// Agent: closes all connections to members.
struct ClosePeers {};

// Agent: sends a message to a member of the current session. Delivery is reliable and in order
// until PeerLost reports the end of the connection.
struct SendToPeer {
  std::uint32_t member = 0;
  Bytes frame;
  SharedSlice payload;
};

// Agent: exchanges one bucket through an aggregator in the network; answered by NetworkSummed. The
// buckets of an epoch come in the order in which all agents exchange them: a host completes them
// one after the other. Another job, aggregator or epoch than that of the bucket before ends
// everything of that one, and the slots begin with their first phase.
struct SumInNetwork {
  RoundKey id;
  std::uint32_t bucket = 0;  // of the plan
  std::string aggregator;    // UDP address
  // The job at the aggregator (core/collective/in_network/bucket_exchange.h).
  std::uint16_t handle = 0;
  std::uint32_t epoch = 0;
  std::uint32_t slot_count = 0;  // quota
  std::uint8_t agent = 0;
  std::uint8_t agents = 0;
  std::uint16_t table = 0;          // fingerprint
  bool wide = false;                // sums of 16 bits
  std::uint32_t packet_values = 0;  // values in a packet; 0: as many as fit
  SharedSlice levels;               // packed levels, two in a byte
  TimeNs deadline_ns = 0;           // by the machine's clock: the exchange ends with an error
};

// Buckets of one epoch share a client.
inline bool same_epoch(const SumInNetwork& a, const SumInNetwork& b) {
  return a.aggregator == b.aggregator && a.handle == b.handle && a.epoch == b.epoch;
}

// Agent: ends all exchanges in the network of this attempt and releases their levels. No
// NetworkSummed follows for them.
struct StopSums {
  RoundKey id;
};

// Aggregator: installs an epoch of a job, or removes the job; answered by EpochDecided. The host
// stores the number before it accepts packets of the epoch, and refuses a number that is not above
// every number that the handle has had.
struct InstallSums {
  wire::InstallEpochT install;
  // The first of a session: the jobs of earlier sessions are over, and are removed before.
  bool first_of_session = false;
};

// Agent: the machine has dropped values of its residual that cannot be encoded. `change` is what
// that has added to the residual: the values with the opposite sign, and zeros for values that
// stay. It counts as an update (Agent::updates_taken), so that the account of updates stays whole.
struct ResidualDropped {
  SharedFloats change;
};

// An occurrence to count and to log. The host logs notes at warning or above at most once per
// source and minute. The sets of names ("frame_refused") and reasons ("wrong_session") are small
// and fixed, so that both can be labels of a metric. `text` is for people.
struct Note {
  LogLevel level = LogLevel::info;
  std::string_view name = {};
  std::string_view reason = {};
  std::string source = {};  // an agent id, or another description of the peer
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
  std::string agent_id = {};  // empty: a reading of the machine itself
};

// Coordinator: an agent's report on its part in a round, for the planner of a planned job. It may
// precede or follow the RoundPlayed of the same round.
struct AgentReported {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
  std::string agent_id;
  double compute_s = 0;
  double waited_s = 0;        // from its report to the commit, in the round before; 0: unknown
  double hidden_s = 0;        // part of compute_s that passed before the round's plan arrived
  std::vector<float> ratios;  // ratios at which `gains` were measured; may be empty
  std::vector<float> gains;
  std::uint64_t bytes = 0;                // in both directions, in the round before
  std::vector<wire::TrialT> trials = {};  // codecs that the agent measured in rounds before
  // Rates of THC, and the gains that follow from the norms of the agent's input. May be empty.
  std::vector<float> rates = {};
  std::vector<float> rate_gains = {};
};

// Coordinator: a committed round, for the planner of a planned job.
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
  std::uint64_t bytes_up = 0;  // payload bytes that the coordinator received
  std::vector<Participant> participants;
  bool peers_reachable = false;  // they exchanged among themselves, or were able to
  // An aggregator in the network has an epoch for them, and no exchange through it has failed
  // lately.
  bool aggregator_reachable = false;
};

// Coordinator: an echo that claims to answer ProbeLink. The receiver of this action must know
// whether it asked for it.
struct ProbeEchoed {
  std::string agent_id;
  std::uint64_t probe = 0;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;           // size of the echo, frame and padding
  std::uint64_t received_at_ns = 0;  // by the agent's clock; 0: unknown
  std::uint64_t answered_at_ns = 0;  // by the agent's clock
  TimeNs at_ns = 0;                  // time of arrival by the machine's clock
  bool waited_for = false;           // see FrameReceived::waited_for
};

// Coordinator: an agent's measurements of the links from its peers. The ids of the peers have been
// checked, the values have not.
struct LinksReported {
  std::string agent_id;
  std::vector<wire::LinkSampleT> links;
};

// Coordinator: the speeds of an agent's device with its codecs, as far as they were measured. The
// codecs may be unknown to the coordinator.
inline constexpr std::size_t kSpeedsReportedMax = 256;
struct SpeedsReported {
  std::string agent_id;
  std::vector<wire::CodecOfferT> codecs;
};

// The answer to SubmitJob and ChangeJob. `job` is the job that the command concerned.
struct CommandDone {
  Token command = 0;
  Status status;
  std::uint64_t job = 0;
};

// The machine has ended and accepts no more events: after Shutdown, or because an error makes it
// impossible to continue (such as a final refusal). The status has the error.
struct Finished {
  Status status;
};

using Action =
    std::variant<Send, ClosePeer, StoreCoordinator, StoreAgent, LoadRound, Train, RunInBackground,
                 OpenPeers, ClosePeers, SendToPeer, SumInNetwork, StopSums, InstallSums,
                 ResidualDropped, Note, Reading, ProbeEchoed, LinksReported, SpeedsReported,
                 AgentReported, RoundPlayed, CommandDone, Finished>;
using Actions = std::vector<Action>;

}  // namespace tributary
