#include "core/net/shaped/shaped_peer_port.h"

#include <utility>

#include "core/net/shaped/shaped.h"

namespace tributary {
namespace {

class ShapedPeerPort final : public PeerPort {
 public:
  ShapedPeerPort(std::unique_ptr<PeerPort> inner, const Clock& clock, ShapedLink link,
                 std::size_t bytes_max)
      : inner_(std::move(inner)), clock_(clock), link_(std::move(link)), bytes_max_(bytes_max) {}

  const std::string& endpoint() const override { return inner_->endpoint(); }
  Result<std::unique_ptr<Transport>> open(const MeshOptions& options) override {
    TRIBUTARY_ASSIGN(std::unique_ptr<Transport> mesh, inner_->open(options));
    return make_shaped(
        std::move(mesh), clock_, link_,
        {.out_bytes_max = options.limits.send_queue_bytes, .in_bytes_max = bytes_max_});
  }

 private:
  const std::unique_ptr<PeerPort> inner_;
  const Clock& clock_;
  const ShapedLink
      link_;  // state at the beginning; each epoch's copy follows the trace from then on
  const std::size_t bytes_max_;
};

}  // namespace

Result<std::unique_ptr<PeerPort>> make_shaped_peer_port(std::unique_ptr<PeerPort> inner,
                                                        const Clock& clock,
                                                        const ShapedOptions& options) {
  ShapedOptions peers = options;
  peers.policy = kShapedPeers;
  TRIBUTARY_ASSIGN(ShapedLink link, ShapedLink::make(peers, clock.now()));
  return std::unique_ptr<PeerPort>(std::make_unique<ShapedPeerPort>(
      std::move(inner), clock, std::move(link), options.bytes_max));
}

}  // namespace tributary
