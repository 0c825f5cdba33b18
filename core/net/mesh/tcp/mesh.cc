#include "core/net/mesh/tcp/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "core/net/mesh/tcp/mesh_context.h"
#include "core/net/mesh/tcp/mesh_receiver.h"
#include "core/net/mesh/tcp/mesh_sender.h"
#include "core/net/peer_transport.h"
#include "core/net/tcp_statistics.h"

namespace tributary {
namespace {

// Owns a sender for each member and the receiver, and turns what happens on their connections into
// the events of the transport.
class TcpMesh final : public PeerTransport, private MeshEvents {
 public:
  TcpMesh(const MeshPort& port, const MeshOptions& options, const Clock& clock, MeshPoll poll)
      : PeerTransport(
            options.limits,
            {.count = static_cast<std::uint32_t>(options.members.size()), .own_rank = options.rank},
            kMeshHeaderBytes),
        options_(options),
        clock_(clock),
        poll_(std::move(poll)),
        receiver_(port, context_) {}

  Status start();
  Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds deadline) override;
  void wake() override { poll_.wake(); }
  bool encrypted() const override { return options_.keys != nullptr; }
  LinkCounters counters() const override;
  std::size_t waiting_bytes_for(ConnectionId member) const override {
    return senders_[member].waiting_bytes();
  }
  std::size_t forget(ConnectionId member) override { return senders_[member].clear(); }
  std::optional<double> round_trip_min_s(ConnectionId member) const override;

 private:
  Status accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) override;
  void message_arrived(Received received) override { report(std::move(received)); }
  void member_gone(std::uint32_t member, Status why) override;
  void connection_refused(std::string source, Status why) override {
    report_refused(std::move(source), std::move(why));
  }
  std::chrono::nanoseconds next_due() const;
  void look_at_time(std::chrono::nanoseconds now);

  const MeshOptions options_;
  const Clock& clock_;
  MeshPoll poll_;
  std::unique_ptr<PairKeys> keys_;
  std::unique_ptr<TlsSettings> tls_;
  MeshContext context_{options_, clock_, poll_, *this, counters_};
  std::deque<MeshSender> senders_;  // by rank; the own one stays idle
  MeshReceiver receiver_;
};

Status TcpMesh::start() {
  const std::uint32_t members = context_.members();
  if (options_.keys) {
    std::vector<PublicKey> keys;
    for (const MeshMember& member : options_.members) keys.push_back(member.key);
    keys_ = make_pair_keys(*options_.keys, options_.rank, keys, options_.session);
    TRIBUTARY_ASSIGN(tls_, TlsSettings::make(*keys_, options_.rank, members));
    context_.tls = tls_.get();
  }
  for (std::uint32_t member = 0; member < members; ++member) {
    Address address;
    if (member != options_.rank) {
      TRIBUTARY_ASSIGN(address, parse_address(options_.members[member].endpoint));
    }
    senders_.emplace_back(context_, member, address);
  }
  return receiver_.start();
}

Status TcpMesh::accept(std::uint32_t to, SharedSlice frame, SharedSlice payload) {
  Bytes head = mesh_head(frame.view(), payload.size());
  senders_[to].push({.head = std::move(head), .payload = std::move(payload)});
  return {};
}

// The member is lost for the rest of the epoch: its queue is dropped and its loss is reported.
void TcpMesh::member_gone(std::uint32_t member, Status why) {
  if (lost(member)) return;
  senders_[member].close();
  report_lost(member, options_.members[member].key, std::move(why), forget(member));
}

std::chrono::nanoseconds TcpMesh::next_due() const {
  std::chrono::nanoseconds due = receiver_.next_due();
  for (const MeshSender& sender : senders_) due = std::min(due, sender.next_due());
  return due;
}

void TcpMesh::look_at_time(std::chrono::nanoseconds now) {
  for (MeshSender& sender : senders_) sender.look_at_time(now);
  receiver_.look_at_time(now);
}

Result<std::optional<LinkEvent>> TcpMesh::receive(std::chrono::nanoseconds deadline) {
  const bool sending = waiting_bytes() > 0;
  for (;;) {
    if (has_event()) return std::optional<LinkEvent>(next_event());
    const std::chrono::nanoseconds now = clock_.now();
    look_at_time(now);
    if (has_event()) continue;
    const std::chrono::nanoseconds until = std::min(deadline, next_due());
    TRIBUTARY_ASSIGN(const bool woken, poll_.wait(until - std::min(now, until)));
    const bool sent = sending && waiting_bytes() == 0;
    if (!has_event() && (woken || sent || clock_.now() >= deadline)) {
      return std::optional<LinkEvent>();
    }
  }
}

// Either connection to the member serves, because both measure the same path.
std::optional<double> TcpMesh::round_trip_min_s(ConnectionId member) const {
  if (member >= senders_.size()) return std::nullopt;
  const File* const sending = senders_[member].socket();
  const File* const with =
      sending != nullptr ? sending : receiver_.socket_of(static_cast<std::uint32_t>(member));
  return with != nullptr ? tcp_round_trip_min_s(with->get()) : std::nullopt;
}

LinkCounters TcpMesh::counters() const {
  LinkCounters all = counters_;
  for (const MeshSender& sender : senders_) sender.add_wire_bytes(all);
  receiver_.add_wire_bytes(all);
  return all;
}

}  // namespace

Result<std::unique_ptr<Transport>> open_mesh(const MeshPort& port, const MeshOptions& options,
                                             const Clock& clock) {
  if (options.rank >= options.members.size()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "rank in a mesh",
                   .expected = fmt::format("below {}", options.members.size()),
                   .got = fmt::format("{}", options.rank)});
  }
  TRIBUTARY_ASSIGN(MeshPoll poll, MeshPoll::open());
  auto mesh = std::make_unique<TcpMesh>(port, options, clock, std::move(poll));
  TRIBUTARY_TRY(mesh->start());
  return std::unique_ptr<Transport>(std::move(mesh));
}

}  // namespace tributary
