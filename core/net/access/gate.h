// Who may come in: what our ZAP handler answers to libzmq, without the socket it answers on
// (RFC 27). A new connection has proven that it owns its key by the time this is asked.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/clock.h"
#include "core/net/access/allow_list.h"
#include "core/net/transport.h"

namespace tributary {

struct GateAnswer {
  int status = 500;  // 200 come in; 300 try later; 400 no; 500 our fault
  std::string text = {};
  std::string user_id = {};  // the key's text, which libzmq then attaches to every message
};

class Gate {
 public:
  // libzmq numbers the connections of a socket, and ends the program when it is about to give a
  // number that a peer has claimed. An insider who knocked at will would get there within minutes
  // (docs/security.md has the figures); nobody honest comes back more often than this.
  static constexpr std::uint32_t kKnocksAtOnce = 64;
  static constexpr std::chrono::nanoseconds kKnockEvery = std::chrono::seconds(2);
  static constexpr std::size_t kDomainsMax = 8;
  static constexpr std::size_t kWaitingRefusalsMax = 64;

  explicit Gate(const Clock& clock) : clock_(clock) {}

  // From now on this list decides for sockets of this domain. Any thread.
  Status guard(const std::string& domain, std::shared_ptr<const AllowList> allowed);
  void leave(const std::string& domain);

  // The parts behind the envelope: version, request id, domain, address, routing id, mechanism,
  // credentials.
  GateAnswer answer(std::span<const ByteSpan> request);

  // Those refused in this domain since the last call, the newest only where there were many; and
  // how many there have been for a reason.
  std::vector<Refused> take_refusals(const std::string& domain);
  std::uint64_t refused_for(const std::string& domain, RefusalReason reason) const;

 private:
  struct Domain {
    std::shared_ptr<const AllowList> allowed;
    // When the key's knocks will have been worked off: a token bucket in one number.
    std::unordered_map<PublicKey, std::chrono::nanoseconds, PublicKeyHash> busy_until;
    std::deque<Refused> refusals;
    std::array<std::uint64_t, kRefusalReasons> counts{};
  };

  static GateAnswer refuse(Domain& domain, RefusalReason reason, std::string source);
  bool too_fast(Domain& domain, const PublicKey& key) const;

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, Domain, std::less<>> domains_;
};

}  // namespace tributary
