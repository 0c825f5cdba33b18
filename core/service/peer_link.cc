#include "core/service/peer_link.h"

#include <optional>
#include <utility>

namespace tributary {

// With an address to advertise, the own endpoint may be a wildcard: peers never see it.
Status check_peer_addresses(const std::string& endpoint, const std::string& advertise) {
  if (advertise.empty()) {
    return check_mesh_address(endpoint, MeshAddressUse::listen_and_advertise).at("peers.endpoint");
  }
  TRIBUTARY_TRY(check_mesh_address(endpoint, MeshAddressUse::listen).at("peers.endpoint"));
  return check_mesh_address(advertise, MeshAddressUse::advertise).at("peers.advertise");
}

Result<std::unique_ptr<PeerLink>> PeerLink::make(PeerLinkOptions options, const Clock& clock,
                                                 Post post) {
  TRIBUTARY_TRY(check_peer_addresses(options.endpoint, options.advertise));
  TRIBUTARY_ASSIGN(std::unique_ptr<PeerPort> port,
                   open_tcp_peer_port(options.endpoint, options.advertise, clock));
  return make_over(std::move(port), std::move(options), clock, std::move(post));
}

std::unique_ptr<PeerLink> PeerLink::make_over(std::unique_ptr<PeerPort> port,
                                              PeerLinkOptions options, const Clock& clock,
                                              Post post) {
  return std::unique_ptr<PeerLink>(
      new PeerLink(std::move(port), std::move(options), clock, std::move(post)));
}

PeerLink::PeerLink(std::unique_ptr<PeerPort> port, PeerLinkOptions options, const Clock& clock,
                   Post post)
    : options_(std::move(options)),
      clock_(clock),
      post_(std::move(post)),
      port_(std::move(port)),
      commands_(std::make_shared<PeerCommands>(
          PeerCommands::Bounds{.unsent_bytes_max = options_.unsent_bytes_max,
                               .unread_bytes_max = options_.unread_bytes_max})),
      thread_([this] { run(); }) {}

// Ends the thread before any other member is destroyed, because the thread uses all of them.
PeerLink::~PeerLink() {
  commands_->end();
  thread_.join();
}

void PeerLink::run() {
  const PeerSessionParts parts{.port = *port_,
                               .commands = commands_,
                               .telemetry = telemetry_,
                               .clock = clock_,
                               .post = post_};
  const PeerSessionOptions options{.keys = options_.keys,
                                   .unsent_bytes_max = options_.unsent_bytes_max,
                                   .connect_max = options_.connect_max,
                                   .refused_max = options_.refused_max};
  // One epoch after the other, on the link's thread. A session ends when commands_ has a newer
  // number.
  std::uint64_t seen = 0;
  while (std::optional<PeerCommands::NextEpoch> next = commands_->next_epoch(seen)) {
    seen = next->number;
    if (next->epoch) PeerSession(parts, options, seen, *std::move(next->epoch)).run();
  }
}

// Drops refused connections of the previous epoch: their peers may be members of this one.
void PeerLink::open(OpenPeers epoch) {
  telemetry_.take_refused();
  commands_->begin(std::move(epoch));
}

void PeerLink::close() {
  telemetry_.take_refused();
  commands_->begin(std::nullopt);
}

void PeerLink::send(SendToPeer message) { commands_->send(std::move(message)); }

std::vector<PeerMeasured> PeerLink::take_measured(std::size_t count_max) {
  const std::chrono::duration<double> now = clock_.now();
  return telemetry_.take_measured(count_max, now.count());
}

}  // namespace tributary
