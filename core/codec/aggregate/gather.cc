#include "core/codec/aggregate/gather.h"

#include <fmt/format.h>

#include <cassert>
#include <map>

#include "core/codec/aggregate/aggregate.h"

namespace tributary {
namespace {

Status corrupt(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have the bucket sent again"});
}

// Keeps the root's payload. `open_` is true from begin() to finish(). After finish(),
// contributors() still returns 1, the number of the combined payload.
class BroadcastAggregator final : public Aggregator {
 public:
  BroadcastAggregator(const Codec& codec, std::size_t stage, std::uint32_t values, BodyCheck check)
      : codec_(codec), stage_(stage), values_(values), check_(std::move(check)) {}

  Status begin(const StageCall& call, std::span<float>) override {
    assert(call.stage() == stage_);
    // In release builds no assertion uses `call`.
    static_cast<void>(call);
    root_payload_.clear();
    open_ = true;
    return {};
  }

  Status add(const StageCall& call, ByteSpan payload) override {
    if (!open_ || !root_payload_.empty()) {
      return Status(StatusCode::resource_exhausted,
                    {.what = "payloads of a broadcast stage",
                     .expected = "the root's and no other",
                     .got = "another",
                     .remedy = "let only the root of the round send in this stage"});
    }
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(codec_, stage_, values_, call.execution, payload));
    if (open.header.contributors != 1) {
      return corrupt("contributors of a broadcast payload", "the root alone",
                     fmt::format("{}", open.header.contributors));
    }
    TRIBUTARY_TRY(check_(open));
    // A copy is needed, because the caller's payload may not outlive the call.
    root_payload_.assign(payload.begin(), payload.end());
    return {};
  }

  Status finish(const StageCall&, Bytes& combined) override {
    if (root_payload_.empty()) return nothing_added();
    combined.swap(root_payload_);
    root_payload_.clear();
    open_ = false;
    return {};
  }

  std::uint32_t contributors() const override { return !open_ || !root_payload_.empty() ? 1 : 0; }

 private:
  const Codec& codec_;
  const std::size_t stage_;
  const std::uint32_t values_;
  const BodyCheck check_;
  Bytes root_payload_;
  bool open_ = false;
};

// Keeps one entry per agent, sorted by agent, so that the combined payload does not depend on the
// order of arrival.
class GatherAggregator final : public Aggregator {
 public:
  GatherAggregator(const Codec& codec, std::size_t stage, std::uint32_t values,
                   std::size_t payload_bytes_max)
      : codec_(codec), stage_(stage), values_(values), payload_bytes_max_(payload_bytes_max) {}

  Status begin(const StageCall& call, std::span<float>) override {
    assert(call.stage() == stage_);
    payloads_.clear();
    agents_ = call.round.agents;
    return {};
  }

  Status add(const StageCall& call, ByteSpan payload) override {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(codec_, stage_, values_, call.execution, payload));
    // All checks precede the first insertion, so a refused payload leaves the aggregate unchanged.
    const std::uint64_t total = std::uint64_t{contributors()} + open.header.contributors;
    if (total > agents_) return too_many_contributors(agents_, total);
    TRIBUTARY_ASSIGN(const std::vector<GatherEntry> entries,
                     read_gather_entries(open, agents_, payload_bytes_max_));
    for (const GatherEntry& entry : entries) {
      if (!payloads_.contains(entry.agent)) continue;
      return Status(StatusCode::already_exists,
                    {.what = fmt::format("gathered payload of agent {}", entry.agent),
                     .expected = "one of each agent",
                     .got = "a second",
                     .remedy = "send it once"});
    }
    for (const GatherEntry& entry : entries) {
      payloads_.emplace(entry.agent, Bytes(entry.payload.begin(), entry.payload.end()));
    }
    return {};
  }

  Status finish(const StageCall& call, Bytes& combined) override {
    if (payloads_.empty()) return nothing_added();
    // The size is computed first, so that the body is allocated once.
    std::size_t bytes = 0;
    for (const auto& [agent, payload] : payloads_) bytes += gather_bytes(payload.size());
    MutableByteSpan body = start_payload({.spec = codec_.spec(),
                                          .stage = static_cast<std::uint8_t>(stage_),
                                          .contributors = contributors(),
                                          .values = values_},
                                         bytes, combined);
    for (const auto& [agent, payload] : payloads_)
      body = write_gather_entry({agent, payload}, body);
    seal_payload(call.execution, combined);
    agents_ = 0;  // refuses payloads that arrive after finish()
    return {};
  }

  std::uint32_t contributors() const override {
    return static_cast<std::uint32_t>(payloads_.size());
  }

 private:
  const Codec& codec_;
  const std::size_t stage_;
  const std::uint32_t values_;
  const std::size_t payload_bytes_max_;
  std::map<std::uint32_t, Bytes> payloads_;  // by agent index
  std::uint32_t agents_ = 0;
};

}  // namespace

MutableByteSpan write_gather_entry(const GatherEntry& entry, MutableByteSpan body) {
  assert(body.size() >= gather_bytes(entry.payload.size()));
  const std::uint32_t header[] = {entry.agent, static_cast<std::uint32_t>(entry.payload.size())};
  static_assert(sizeof(header) == kGatherEntryHeaderBytes);
  std::memcpy(body.data(), header, sizeof(header));
  if (!entry.payload.empty()) {
    std::memcpy(body.data() + sizeof(header), entry.payload.data(), entry.payload.size());
  }
  return body.subspan(gather_bytes(entry.payload.size()));
}

Result<std::vector<GatherEntry>> read_gather_entries(const OpenPayload& payload,
                                                     std::uint32_t agents,
                                                     std::size_t payload_bytes_max) {
  ByteReader reader(payload.body);
  std::vector<GatherEntry> entries;
  while (reader.remaining() > 0) {
    TRIBUTARY_ASSIGN(const auto agent, reader.read<std::uint32_t>("agent of a gathered payload"));
    TRIBUTARY_ASSIGN(const auto bytes, reader.read<std::uint32_t>("size of a gathered payload"));
    // Ascending order makes the encoding of a set of entries unique and excludes duplicates.
    if (agent >= agents || (!entries.empty() && agent <= entries.back().agent)) {
      return corrupt("agents of a gathered payload",
                     fmt::format("an ascending list below {}", agents),
                     fmt::format("{} in place {}", agent, entries.size()));
    }
    if (bytes > payload_bytes_max) {
      return corrupt(fmt::format("gathered payload of agent {}", agent),
                     fmt::format("at most {} bytes", payload_bytes_max), fmt::format("{}", bytes));
    }
    TRIBUTARY_ASSIGN(const ByteSpan entry_payload, reader.take(bytes, "a gathered payload"));
    entries.push_back({agent, entry_payload});
  }
  if (entries.size() == payload.header.contributors) return entries;
  return corrupt("gathered payload", fmt::format("{} contributors", payload.header.contributors),
                 fmt::format("{}", entries.size()));
}

std::unique_ptr<Aggregator> make_broadcast_aggregator(const Codec& codec, std::size_t stage,
                                                      std::uint32_t values, BodyCheck check) {
  return std::make_unique<BroadcastAggregator>(codec, stage, values, std::move(check));
}

std::unique_ptr<Aggregator> make_gather_aggregator(const Codec& codec, std::size_t stage,
                                                   std::uint32_t values,
                                                   std::size_t payload_bytes_max) {
  return std::make_unique<GatherAggregator>(codec, stage, values, payload_bytes_max);
}

}  // namespace tributary
