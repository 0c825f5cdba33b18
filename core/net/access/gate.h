// Decides whether a new connection is accepted. LinkContext passes the requests of libzmq's ZAP
// protocol (RFC 27) to it and sends its answers back.
//
// A Gate has no socket and does no I/O. libzmq sends a request only after the peer has proven that
// it owns its key. Thread-safe: one mutex guards all domains.
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

// The answer to one ZAP request, in the form that ZAP defines.
struct GateAnswer {
  int status = 500;  // 200: accepted; 300: try again later; 400: refused; 500: error on this side
  std::string text = {};
  // Text of the key. libzmq attaches it to every message of the connection.
  std::string user_id = {};
};

// The allow-lists and rate limits of all domains. A domain is one socket that accepts connections.
class Gate {
 public:
  // Limits on connections under one key: a burst of kKnocksAtOnce, then one every kKnockEvery.
  // libzmq numbers the connections of a socket and aborts the process when it is about to assign a
  // number that a peer has claimed as its routing id. Without the limit, a peer with an allowed key
  // reaches such a number within minutes (docs/security.md has the figures). No honest agent
  // connects more often.
  static constexpr std::uint32_t kKnocksAtOnce = 64;
  static constexpr std::chrono::nanoseconds kKnockEvery = std::chrono::seconds(2);
  static constexpr std::size_t kDomainsMax = 8;           // each hub has one
  static constexpr std::size_t kWaitingRefusalsMax = 64;  // per domain; older refusals are dropped

  explicit Gate(const Clock& clock) : clock_(clock) {}

  // From this call on, `allowed` decides for sockets of this domain. Returns already_exists if the
  // domain is guarded already or if kDomainsMax domains are guarded.
  Status guard(const std::string& domain, std::shared_ptr<const AllowList> allowed);
  // Forgets the domain; its later requests are answered with status 500.
  void leave(const std::string& domain);

  // Answers one request. `request` holds the parts behind the envelope: version, request id,
  // domain, address, routing id, mechanism and credentials. The parts are not trusted: a malformed
  // request gets status 400.
  GateAnswer answer(std::span<const ByteSpan> request);

  // Returns the refusals in this domain since the last call; at most the newest
  // kWaitingRefusalsMax.
  std::vector<Refused> take_refusals(const std::string& domain);
  // The number of refusals in this domain for one reason since guard().
  std::uint64_t refused_for(const std::string& domain, RefusalReason reason) const;

 private:
  struct Domain {
    std::shared_ptr<const AllowList> allowed;
    // Time at which the connections of this key so far are paid for, at one per kKnockEvery. This
    // one number is a token bucket.
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
