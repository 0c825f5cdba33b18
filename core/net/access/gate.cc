#include "core/net/access/gate.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary {
namespace {

// The parts of a ZAP request (RFC 27): version, request id, domain, address, identity, mechanism,
// credentials.
constexpr std::size_t kRequestParts = 7;  // CURVE has exactly one part of credentials
constexpr std::size_t kDomainPart = 2;
constexpr std::size_t kAddressPart = 3;
constexpr std::size_t kMechanismPart = 5;
constexpr std::size_t kKeyPart = 6;
constexpr std::size_t kAddressBytesMax = 64;

}  // namespace

Status Gate::guard(const std::string& domain, std::shared_ptr<const AllowList> allowed) {
  const std::lock_guard lock(mutex_);
  if (domains_.contains(domain) || domains_.size() >= kDomainsMax) {
    return Status(StatusCode::already_exists, {.what = fmt::format("gate '{}'", domain),
                                               .expected = "one hub that guards it",
                                               .got = "a second",
                                               .remedy = "give each hub a context of its own"});
  }
  domains_[domain].allowed = std::move(allowed);
  return {};
}

void Gate::leave(const std::string& domain) {
  const std::lock_guard lock(mutex_);
  domains_.erase(domain);
}

// An unknown key is refused before the rate limit is consulted: strangers cannot fill the map of
// busy keys.
GateAnswer Gate::answer(std::span<const ByteSpan> request) {
  if (request.size() != kRequestParts || as_text(request[kMechanismPart]) != "CURVE" ||
      request[kKeyPart].size() != kKeyBytes) {
    return {.status = 400, .text = "CURVE is needed"};
  }
  PublicKey key;
  std::ranges::copy(request[kKeyPart], key.bytes.begin());
  const std::string_view address = as_text(request[kAddressPart]).substr(0, kAddressBytesMax);
  const std::lock_guard lock(mutex_);
  const auto found = domains_.find(as_text(request[kDomainPart]));
  if (found == domains_.end()) return {.status = 500, .text = "no hub guards this domain"};
  Domain& domain = found->second;
  std::string source = fmt::format("{} at {}", key_text(key), address);
  if (!domain.allowed || !domain.allowed->allows(key)) {
    return refuse(domain, RefusalReason::unknown_key, std::move(source));
  }
  if (too_fast(domain, key)) {
    return refuse(domain, RefusalReason::too_many_knocks, std::move(source));
  }
  return {.status = 200, .text = "OK", .user_id = key_text(key)};
}

// The queue of refusals is bounded and drops the oldest; the counts are exact.
GateAnswer Gate::refuse(Domain& domain, RefusalReason reason, std::string source) {
  ++domain.counts[static_cast<std::size_t>(reason)];
  if (domain.refusals.size() >= kWaitingRefusalsMax) domain.refusals.pop_front();
  domain.refusals.push_back({.reason = reason, .source = std::move(source)});
  // libzmq closes the connection on status 300 without an error, so a peer that is only too fast
  // connects again.
  if (reason == RefusalReason::too_many_knocks) return {.status = 300, .text = "too fast"};
  return {.status = 400, .text = "this key is not on the allow-list"};
}

bool Gate::too_fast(Domain& domain, const PublicKey& key) const {
  const std::chrono::nanoseconds now = clock_.now();
  // Without this, keys that were removed from the allow-list would stay in the map forever. A
  // removed entry of an allowed key costs nothing: its time has passed.
  if (domain.busy_until.size() > 2 * domain.allowed->size()) {
    std::erase_if(domain.busy_until, [&](const auto& each) { return each.second <= now; });
  }
  // A token bucket in the form of a time: each connection moves busy_until by kKnockEvery, and
  // kKnocksAtOnce of them may be ahead of the clock.
  std::chrono::nanoseconds& busy_until = domain.busy_until[key];
  busy_until = std::max(busy_until, now);
  if (busy_until - now > (kKnocksAtOnce - 1) * kKnockEvery) return true;
  busy_until += kKnockEvery;
  return false;
}

std::vector<Refused> Gate::take_refusals(const std::string& domain) {
  const std::lock_guard lock(mutex_);
  const auto found = domains_.find(domain);
  if (found == domains_.end()) return {};
  std::vector<Refused> refusals(found->second.refusals.begin(), found->second.refusals.end());
  found->second.refusals.clear();
  return refusals;
}

std::uint64_t Gate::refused_for(const std::string& domain, RefusalReason reason) const {
  const std::lock_guard lock(mutex_);
  const auto found = domains_.find(domain);
  return found == domains_.end() ? 0 : found->second.counts[static_cast<std::size_t>(reason)];
}

}  // namespace tributary
