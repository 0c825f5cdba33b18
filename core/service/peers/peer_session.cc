#include "core/service/peers/peer_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/overloaded.h"

namespace tributary {
namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

Status too_much_waits(std::uint32_t member, std::size_t bytes_max) {
  return Status(StatusCode::resource_exhausted,
                {.what = fmt::format("messages that wait for member {}", member),
                 .expected = fmt::format("at most {} bytes", bytes_max),
                 .got = "more",
                 .remedy = "the member receives too slowly; exchange through the coordinator"});
}

Status bad_key(const OpenPeers::Member& member) {
  return Status(StatusCode::mismatch,
                {.what = fmt::format("the key of the peer at {}", member.endpoint),
                 .expected = fmt::format("{} bytes", kKeyBytes),
                 .got = fmt::format("{}", member.public_key.size()),
                 .remedy = "encrypt all links of a federation, or none"});
}

// A message that was posted to the machine. It counts as unread until it is destroyed.
class UnreadMessage {
 public:
  UnreadMessage(std::shared_ptr<PeerCommands> commands, Bytes frame, std::size_t payload_bytes)
      : commands_(std::move(commands)),
        frame_(std::move(frame)),
        bytes_(frame_.size() + payload_bytes) {
    commands_->hand_out(bytes_);
  }
  ~UnreadMessage() { commands_->let_go(bytes_); }
  UnreadMessage(const UnreadMessage&) = delete;
  UnreadMessage& operator=(const UnreadMessage&) = delete;

  ByteSpan frame() const { return frame_; }

 private:
  const std::shared_ptr<PeerCommands> commands_;
  const Bytes frame_;
  const std::size_t bytes_;
};

}  // namespace

PeerSession::PeerSession(const PeerSessionParts& parts, const PeerSessionOptions& options,
                         std::uint64_t number, OpenPeers epoch)
    : parts_(parts), options_(options), number_(number), members_(std::move(epoch)) {}

// No thread may wake the mesh after it was destroyed.
// attach(nullptr) waits for the mutex, so a wake that is running has returned before the mesh is
// destroyed.
PeerSession::~PeerSession() {
  if (mesh_) count();
  parts_.commands->attach(nullptr);
}

void PeerSession::run() {
  const Status ended = play();
  if (ended.ok()) return;
  parts_.commands->give_up(number_);
  for (std::uint32_t member = 0; member < members_.size(); ++member) lose(member, ended);
}

// An error ends the session for every member.
Status PeerSession::play() {
  TRIBUTARY_TRY(open());
  while (std::optional<PeerCommands::Work> work = parts_.commands->work(number_)) {
    TRIBUTARY_TRY(send(*work));
    // Waits without a limit. A new message, the end of the epoch and the end of the link all wake
    // the mesh.
    TRIBUTARY_ASSIGN(std::optional<LinkEvent> event,
                     mesh_->receive(std::chrono::nanoseconds::max()));
    count();
    if (event) take(*event);
  }
  return {};
}

// Opens the mesh with the epoch's members. The commands can wake it from then on.
Status PeerSession::open() {
  const OpenPeers& epoch = members_.epoch();
  MeshOptions options{.rank = epoch.member,
                      .members = {},
                      .session = epoch.session,
                      .keys = options_.keys,
                      .connect_max = options_.connect_max,
                      .refused_max = options_.refused_max};
  options.limits.send_queue_bytes = options_.unsent_bytes_max;
  for (const OpenPeers::Member& member : epoch.members) {
    MeshMember& made = options.members.emplace_back();
    made.endpoint = member.endpoint;
    if (!options.keys) continue;
    if (member.public_key.size() != made.key.bytes.size()) return bad_key(member);
    std::ranges::copy(member.public_key, made.key.bytes.begin());
  }
  TRIBUTARY_ASSIGN(mesh_, parts_.port.open(options));
  parts_.commands->attach([mesh = mesh_.get()] { mesh->wake(); });
  return {};
}

Status PeerSession::send(PeerCommands::Work& work) {
  for (SendToPeer& message : work.sends) {
    Status status =
        mesh_->send(message.member, std::move(message.frame), std::move(message.payload));
    // The mesh reports a lost member by an event.
    if (status.code() != StatusCode::unavailable) TRIBUTARY_TRY(std::move(status));
  }
  if (!work.overrun_by) return {};
  return too_much_waits(*work.overrun_by, options_.unsent_bytes_max);
}

void PeerSession::take(LinkEvent& event) {
  std::visit(Overloaded{
                 [this](Received& message) { receive(message); },
                 [this](Disconnected& lost) { lose(lost.rank(), std::move(lost.why)); },
                 [this](Refused& refused) { parts_.telemetry.refused(std::move(refused)); },
                 // A mesh connects when it first sends, and connects again on its own.
                 [](const Connected&) {},
                 [](const Unreachable&) {},
             },
             event);
}

// Messages of a member whose loss was reported are dropped, because the machine expects none.
void PeerSession::receive(Received& message) {
  if (members_.is_lost(message.rank())) return;
  measure(message);
  auto unread = std::make_shared<const UnreadMessage>(parts_.commands, std::move(message.frame),
                                                      message.payload.size());
  PeerFrameReceived received{.session = members_.epoch().session,
                             .from = message.rank(),
                             .frame = unread->frame(),
                             .payload = std::move(message.payload)};
  parts_.post(std::move(received), std::move(unread));
}

// Measures the link by the payload's arrival, and from time to time by TCP's round-trip time.
void PeerSession::measure(const Received& message) {
  const std::chrono::nanoseconds now = parts_.clock.now();
  const std::string& agent_id = members_.agent_id(message.rank());
  if (message.arrival.bytes > 0) {
    parts_.telemetry.measured(agent_id, {.kind = TransferKind::train,
                                         .bytes = static_cast<double>(message.arrival.bytes),
                                         .seconds = seconds(message.arrival.took),
                                         .at_s = seconds(now)});
  }
  if (!members_.round_trip_due(message.rank(), now)) return;
  if (const std::optional<double> trip = mesh_->round_trip_min_s(message.rank())) {
    parts_.telemetry.measured(
        agent_id,
        {.kind = TransferKind::round_trip, .bytes = 1, .seconds = *trip, .at_s = seconds(now)});
  }
}

// Reports the loss of a member once.
void PeerSession::lose(std::uint32_t member, Status why) {
  if (!members_.lose(member)) return;
  parts_.post(
      PeerLost{.session = members_.epoch().session, .member = member, .why = std::move(why)},
      nullptr);
}

// Adds the mesh's counters since the last call to the telemetry.
void PeerSession::count() {
  const LinkCounters now = mesh_->counters();
  const LinkCounters more = now - counted_;
  parts_.telemetry.count({.bytes_in = more.wire_bytes_in,
                          .bytes_out = more.wire_bytes_out,
                          .refused = more.refused_in_all()});
  counted_ = now;
}

}  // namespace tributary
