// The inputs of the two state machines: everything that the host (the code with the sockets, the
// clock and the files) reports to a coordinator or to an agent.
//
// Both machines take the same type. Each ignores, and counts, the events that are meant for the
// other one. An event is a plain value; spans and views in it are borrowed and valid only during
// the call. "Optional" means that a machine also works, if later, with a host that never sends the
// event.
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

class DeviceVector;  // core/codec/device/device_vector.h

// Nanoseconds of the machine's steady clock, which never goes backwards.
using TimeNs = std::int64_t;
constexpr TimeNs kNsPerMs = 1'000'000;
constexpr TimeNs kNever = INT64_MAX;

// A connection, numbered by the host. A coordinator's host never gives a number to a second
// connection. An agent has one connection, to its coordinator, and ignores the number.
using PeerId = std::uint64_t;

// Identifies a request of a machine, so that the answer can be matched to it. Unique within the
// life of a machine.
using Token = std::uint64_t;

// A message as the transport delivered it. The bytes are borrowed for the call.
struct FrameReceived {
  PeerId peer = 0;
  ByteSpan frame;
  ByteSpan payload;
  // The agent id that the allow-list binds to the peer's key. Empty: the transport does not know
  // it, and the machine believes the agent id in the Hello.
  std::string_view authenticated_as;
  // The public key that the transport has authenticated. Empty: the connection is not encrypted.
  ByteSpan authenticated_key = {};
  // True: the host was idle when the message arrived, so the current time is the arrival time.
  // False: the message may have waited in a queue, so it is no basis for a measurement.
  bool waited_for = false;
};

// Optional for the coordinator, which learns of a peer from its first frame. An agent sends its
// Hello when it receives this event.
struct PeerConnected {
  PeerId peer = 0;
};

// Optional: a peer that stays silent for too long is treated as lost in any case.
struct PeerDisconnected {
  PeerId peer = 0;
};

// Optional: bytes of this peer have arrived since the last event of it, although perhaps no
// complete message. On a slow link a large message takes longer than the time after which a silent
// peer is lost.
struct PeerAlive {
  PeerId peer = 0;
};

// Time has passed. The host sends it at the machine's next_wakeup_ns(). An earlier one is harmless;
// a later one delays the machine's work.
struct Tick {};

// The answer to StoreCoordinator and StoreAgent. At most one request is unanswered at any time. An
// error means that nothing of the record was stored; the machine repeats the request later.
struct Stored {
  Token token = 0;
  Status status;
};

// --- agent -------------------------------------------------------------------------------------

// A measurement of an agent in addition to the loss: the evaluation of the model with which the
// round begins, on examples that are not in the training data, and the error of the agent's account
// of its updates (edge_agent/auditor.h).
struct AgentMetric {
  ReadingKind kind = ReadingKind::evaluation_loss;  // one of ReadingGroup::agent
  double value = 0;
};

// The answer to Train. `update` has the length of the model. The machine owns it from this event
// on, and changes it in place unless another owner still holds a reference.
struct UpdateReady {
  // All values from `first_value` to the end were final so long after the training began.
  struct Part {
    std::uint64_t first_value = 0;
    double after_s = 0;
  };
  Token token = 0;
  std::shared_ptr<FloatVector> update;  // null if it is on a device
  double loss = 0;
  std::uint64_t examples = 0;
  double compute_s = 0;
  std::vector<AgentMetric> metrics = {};
  // In the order of time, if the trainer finishes the update in parts.
  std::vector<Part> parts = {};
  // On the device that encodes; has the length of the model.
  std::shared_ptr<DeviceVector> on_device = nullptr;
};

// Sent before UpdateReady by a trainer that finishes the update in parts: all values from
// `first_value` to the end are final, the values before it are still being computed. A backward
// pass finishes the last layers first, so their buckets can be sent while it continues.
struct UpdatePart {
  Token token = 0;
  std::uint64_t first_value = 0;
  SharedFloats update;  // has the length of the model
};

// The answer to Train if the trainer could not compute an update.
struct UpdateFailed {
  Token token = 0;
  Status status;
};

// The answer to RunInBackground: the work is done.
struct BackgroundDone {
  Token token = 0;
};

// A message of a peer that OpenPeers named, in the order in which that peer sent it. The transport
// has authenticated the sender. The frame is borrowed for the call; the payload is shared.
struct PeerFrameReceived {
  std::uint64_t session = 0;  // OpenPeers::session
  std::uint32_t from = 0;     // index of the sender in OpenPeers::members
  ByteSpan frame;
  SharedSlice payload;
};

// The peer cannot be reached, or its connection has ended. The host delivers nothing more from it
// in this session.
struct PeerLost {
  std::uint64_t session = 0;
  std::uint32_t member = 0;  // index in OpenPeers::members
  Status why;
};

// The answer to SumInNetwork. An error means that the bucket has no sums: the aggregator refused
// (unavailable, with its reason), or the deadline has passed (deadline_exceeded). All later
// buckets of the epoch then end in the same way.
struct NetworkSummed {
  RoundKey id;
  std::uint32_t bucket = 0;
  Status status = {};
  // One or two bytes for each level, little-endian. Null after an error.
  std::shared_ptr<const Bytes> sums = nullptr;
  std::uint64_t packets = 0;  // sent for this bucket
  std::uint64_t repeats = 0;  // of them, because no result came in time
};

// The largest number of samples in one ReportLinks: two for each pair of members. A message of this
// size is well below the limit of its kind.
inline constexpr std::size_t kLinksReportedMax = 1024;

// Measurements that the agent sends to its coordinator. A value of 0 is unknown. In every sample
// `to` is this agent, which measured the link from the other member.
struct ReportLinks {
  std::vector<wire::LinkSampleT> links;
};

// The speeds of this device with its codecs. The agent sends them at once if it is online, and
// again after each Welcome.
struct ReportSpeeds {
  std::vector<wire::CodecOfferT> codecs;
};

// --- coordinator -------------------------------------------------------------------------------

// Sends `parts` messages in a row to an agent, which echoes each of them. Each echo that arrives is
// reported by ProbeEchoed. No echo arrives from an agent that is offline or has reached its limit
// of echoes.
struct ProbeLink {
  std::string agent_id;
  std::uint64_t probe = 0;  // not 0
  std::uint32_t parts = 1;
  std::uint32_t padding_bytes = 0;       // of each part, at most kProbePaddingMax
  std::uint32_t echo_padding_bytes = 0;  // of each echo, at most kProbePaddingMax
};

// The answer to LoadRound. `round` is empty if the journal has no such round, which then was never
// committed, or if it cannot be read: `status` then says why, and nothing is known of the round.
struct RoundLoaded {
  Token token = 0;
  Status status = {};
  std::optional<RoundRecord> round;
  std::optional<EpochRecord> epoch;
  // All stages of the bucket that LoadRound names; empty if the journal does not have them any
  // more.
  std::vector<RedoPayload> results = {};
};

// Submits a job. The machine answers with CommandDone once the job and its model are durable.
struct SubmitJob {
  Token command = 0;
  wire::JobT definition;  // the machine sets job, revision and state if they are 0
  RoundPolicy policy;
  SharedFloats model;  // version 0
};

// Changes the state of a job. The machine answers with CommandDone once the change is durable.
struct ChangeJob {
  Token command = 0;
  std::uint64_t job = 0;
  wire::JobState state = wire::JobState::running;  // the new state: running, paused or stopped
  std::string reason;
};

// The planner's decision for a job, in force from the next round on. The machine ignores it if the
// job is not planned or the decision cannot be applied; rounds then continue as before.
struct PlanAdvised {
  std::uint64_t job = 0;
  std::shared_ptr<const PlanAdvice> advice;
};

// --- aggregator --------------------------------------------------------------------------------

// The answer to InstallSums.
struct EpochDecided {
  std::uint64_t job = 0;
  std::uint16_t handle = 0;
  std::uint32_t epoch = 0;          // as in the request
  Status status = {};               // an error: the epoch is not in force
  std::uint32_t epoch_highest = 0;  // that the handle has ever had
};

// --- both --------------------------------------------------------------------------------------

// Sends Leave to all peers. The host may end once the machine's `idle()` is true, or after a time
// limit of its own.
struct Shutdown {
  std::string reason;
};

using Event = std::variant<FrameReceived, PeerConnected, PeerDisconnected, PeerAlive, Tick, Stored,
                           UpdatePart, UpdateReady, UpdateFailed, BackgroundDone, PeerFrameReceived,
                           PeerLost, NetworkSummed, ReportLinks, ReportSpeeds, ProbeLink,
                           RoundLoaded, SubmitJob, ChangeJob, PlanAdvised, EpochDecided, Shutdown>;

// The event's name as a label for metrics and notes ("frame_received").
std::string_view name_of(const Event& event);

}  // namespace tributary
