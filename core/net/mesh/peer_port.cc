#include "core/net/mesh/peer_port.h"

#include <utility>

namespace tributary {
namespace {

class TcpPeerPort final : public PeerPort {
 public:
  TcpPeerPort(std::unique_ptr<MeshPort> port, const std::string& advertise, const Clock& clock)
      : port_(std::move(port)),
        endpoint_(advertise.empty() ? port_->endpoint() : advertise),
        clock_(clock) {}

  const std::string& endpoint() const override { return endpoint_; }
  Result<std::unique_ptr<Transport>> open(const MeshOptions& options) override {
    return open_mesh(*port_, options, clock_);
  }

 private:
  const std::unique_ptr<MeshPort> port_;
  const std::string endpoint_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<PeerPort>> open_tcp_peer_port(const std::string& endpoint,
                                                     const std::string& advertise,
                                                     const Clock& clock) {
  TRIBUTARY_ASSIGN(std::unique_ptr<MeshPort> port, MeshPort::open(endpoint));
  return std::unique_ptr<PeerPort>(
      std::make_unique<TcpPeerPort>(std::move(port), advertise, clock));
}

}  // namespace tributary
