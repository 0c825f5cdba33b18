// Codecs whose agents all send values at the same indices. An aggregator therefore adds them
// without decoding: the last stage is a sum of k float32.
//
//   randk      values                        indices drawn from the job's seed
//   star_topk  indices, values               indices of one agent, in turn: round mod agents
//   var_topk   energies, indices, values     indices of the agent whose selection has most energy
//
// Values at other indices are not sent; they stay in each agent's residual.
#include <algorithm>
#include <cmath>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/aggregate/gather.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/sparse/aggregators.h"
#include "core/codec/sparse/device/call_selector.h"
#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/families.h"
#include "core/codec/sparse/indices/random_places.h"
#include "core/codec/sparse/select.h"
#include "core/codec/sparse/sparse_body.h"

#include <fmt/format.h>

namespace tributary::sparse {
namespace {

// Common base: a ratio, the last stage and its decoder.
class AgreedPlacesCodec : public Codec {
 public:
  AgreedPlacesCodec(std::string spec, double ratio, std::span<const Stage> stages)
      : spec_(std::move(spec)), ratio_(ratio), stages_(stages) {}

  const std::string& spec() const final { return spec_; }
  std::span<const Stage> stages() const final { return stages_; }
  Aggregation aggregation() const final { return Aggregation::sum; }
  bool lossy() const final { return true; }

  std::unique_ptr<Aggregator> make_aggregator(std::size_t stage,
                                              std::uint32_t values) const override {
    return make_value_sum_aggregator(*this, stage, values, kept(values));
  }

  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const final {
    IndexVector places;
    TRIBUTARY_TRY(read_places(call, sum.size(), places));
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, last_stage(), sum.size(), call.execution, payload));
    TRIBUTARY_ASSIGN(const std::span<const float> values,
                     read_value_sums(call.execution, open, places.size()));
    scatter_in_call(call, places, values.data(), sum);
    return {};
  }

  std::size_t last_stage() const { return stages_.size() - 1; }
  std::uint32_t kept(std::size_t values) const { return kept_of(ratio_, values); }

  // Reads the indices to which this round's values belong; their number is kept(values). On an
  // error `places` is undefined.
  virtual Status read_places(const StageCall& call, std::size_t values,
                             IndexVector& places) const = 0;

 private:
  const std::string spec_;
  const double ratio_;
  const std::span<const Stage> stages_;
};

// Encodes the last stage, which is the same for all of these codecs. `checked`: an earlier stage
// has refused NaN and Inf.
Status encode_values(const AgreedPlacesCodec& codec, const StageCall& call,
                     std::span<const float> values, bool checked, Bytes& payload) {
  IndexVector places;
  TRIBUTARY_TRY(codec.read_places(call, values.size(), places));
  const MutableByteSpan body =
      start_payload({.spec = codec.spec(),
                     .stage = static_cast<std::uint8_t>(codec.last_stage()),
                     .contributors = call.contributors,
                     .values = static_cast<std::uint32_t>(values.size())},
                    places.size() * sizeof(float), payload);
  auto* const picked = reinterpret_cast<float*>(body.data());
  std::uint32_t largest = 0;
  const bool done =
      encoded_on_device(call, &CodecDevice::sparse, [&](DeviceLoops& device) -> Status {
        TRIBUTARY_ASSIGN(largest, device.pick(places, values, picked));
        return {};
      });
  if (largest >= kInfinityBits) return not_finite_error(values);
  if (!done) {
    if (!checked) {
      TRIBUTARY_TRY(check_finite(call.execution, values));
    }
    pick(call.execution, places, values, picked);
  }
  seal_payload(call.execution, payload);
  return {};
}

constexpr Stage kRandkStages[] = {{"values", Combine::sum}};

class RandkCodec final : public AgreedPlacesCodec {
 public:
  explicit RandkCodec(const Params& params)
      : AgreedPlacesCodec(params.canonical("randk"), params.real("cr"), kRandkStages) {}

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override;

  Status read_places(const StageCall& call, std::size_t values,
                     IndexVector& places) const override {
    const StreamKey key = stream_key({.job_seed = call.round.job_seed,
                                      .round = call.round.round,
                                      .bucket = call.round.bucket,
                                      .purpose = DrawPurpose::selection,
                                      .agent = kSharedDraw});
    // kSharedDraw in the address gives all agents the same indices.
    draw_places(call.execution, key, values, kept(values), places);
    return {};
  }
};

class RandkEncoder final : public Encoder {
 public:
  explicit RandkEncoder(const RandkCodec& codec) : codec_(codec) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    return encode_values(codec_, call, values, false, payload);
  }

 private:
  const RandkCodec& codec_;
};

std::unique_ptr<Encoder> RandkCodec::make_encoder(std::uint32_t) const {
  return std::make_unique<RandkEncoder>(*this);
}

// Both variants of AR-Topk. They differ only in the choice of the root.
class ArTopkCodec : public AgreedPlacesCodec {
 public:
  using AgreedPlacesCodec::AgreedPlacesCodec;

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const final;
  std::unique_ptr<Aggregator> make_aggregator(std::size_t stage,
                                              std::uint32_t values) const override {
    if (stage != index_stage()) return AgreedPlacesCodec::make_aggregator(stage, values);
    return make_broadcast_aggregator(*this, stage, values, [this](const OpenPayload& payload) {
      IndexVector places;
      return read_root_places({}, payload, places);
    });
  }

  // Fails if the root cannot be determined, or if its indices violate their format.
  Status read_places(const StageCall& call, std::size_t values, IndexVector& places) const final {
    TRIBUTARY_TRY(root(call, values).status());
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, index_stage(), values, call.execution,
                                     call.combined[index_stage()]));
    return read_root_places(call.execution, open, places);
  }

  std::size_t index_stage() const { return last_stage() - 1; }

  // The agent whose indices are sent. call.combined holds the combined payloads of the earlier
  // stages.
  virtual Result<std::uint32_t> root(const StageCall& call, std::size_t values) const = 0;
  // Whether agents other than the root also select indices.
  virtual bool all_select() const = 0;

 private:
  Status read_root_places(const Execution& execution, const OpenPayload& payload,
                          IndexVector& places) const {
    TRIBUTARY_TRY(read_index_set(execution, payload, places));
    const std::uint32_t expected = kept(payload.header.values);
    if (places.size() == expected) return {};
    return Status(StatusCode::corrupt_data, {.what = "places of the root",
                                             .expected = fmt::format("{}", expected),
                                             .got = fmt::format("{}", places.size()),
                                             .remedy = "have the bucket sent again"});
  }
};

// ||g_topk||². The squares are exact in double. They are added in ascending order of indices, so
// that every machine gets the same bits.
double energy_of(std::span<const std::uint32_t> places, std::span<const float> values) {
  double energy = 0;
  for (const std::uint32_t place : places) {
    const auto x = static_cast<double>(values[place]);
    energy += x * x;
  }
  return energy;
}

class ArTopkEncoder final : public Encoder {
 public:
  explicit ArTopkEncoder(const ArTopkCodec& codec) : codec_(codec) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    if (call.stage() == codec_.last_stage()) {
      return encode_values(codec_, call, values, true, payload);
    }
    if (call.stage() == codec_.index_stage()) return encode_indices(call, values, payload);
    return encode_energy(call, values, payload);
  }

 private:
  PayloadHeader header(const StageCall& call, std::span<const float> values) const {
    return {.spec = codec_.spec(),
            .stage = static_cast<std::uint8_t>(call.stage()),
            .values = static_cast<std::uint32_t>(values.size())};
  }

  Status select(const StageCall& call, std::span<const float> values) {
    TRIBUTARY_ASSIGN(const Selection selection,
                     selector_.top(call, values, codec_.kept(values.size())));
    selected_ = selection.indices;
    return {};
  }

  Status encode_energy(const StageCall& call, std::span<const float> values, Bytes& payload) {
    TRIBUTARY_TRY(select(call, values));
    const double energy = energy_of(selected_, values);
    const MutableByteSpan body =
        start_payload(header(call, values), gather_bytes(sizeof(energy)), payload);
    write_gather_entry({call.round.agent, bytes_of(std::span<const double>(&energy, 1))}, body);
    seal_payload(call.execution, payload);
    return {};
  }

  Status encode_indices(const StageCall& call, std::span<const float> values, Bytes& payload) {
    payload.clear();
    TRIBUTARY_ASSIGN(const std::uint32_t root, codec_.root(call, values.size()));
    const bool is_root = root == call.round.agent;
    if (!codec_.all_select()) {
      // An agent that is not the root checks its values too. Otherwise a NaN would stay in its
      // residual unnoticed.
      TRIBUTARY_TRY(is_root ? select(call, values) : check_finite(call.execution, values));
    }
    if (!is_root) return {};
    write_index_set(call.execution, header(call, values), selected_, payload);
    seal_payload(call.execution, payload);
    return {};
  }

  const ArTopkCodec& codec_;
  CallSelector selector_;
  std::span<const std::uint32_t> selected_;  // points into selector_
};

std::unique_ptr<Encoder> ArTopkCodec::make_encoder(std::uint32_t) const {
  return std::make_unique<ArTopkEncoder>(*this);
}

constexpr Stage kStarStages[] = {{"indices", Combine::broadcast}, {"values", Combine::sum}};

class StarTopkCodec final : public ArTopkCodec {
 public:
  explicit StarTopkCodec(const Params& params)
      : ArTopkCodec(params.canonical("star_topk"), params.real("cr"), kStarStages) {}

  Result<std::uint32_t> root(const StageCall& call, std::size_t) const override {
    // The rotation depends only on the plan, so no stage is needed to agree on it.
    return static_cast<std::uint32_t>(call.round.round %
                                      std::max<std::uint32_t>(call.round.agents, 1));
  }
  bool all_select() const override { return false; }
};

constexpr Stage kVarStages[] = {
    {"energies", Combine::gather}, {"indices", Combine::broadcast}, {"values", Combine::sum}};

class VarTopkCodec final : public ArTopkCodec {
 public:
  explicit VarTopkCodec(const Params& params)
      : ArTopkCodec(params.canonical("var_topk"), params.real("cr"), kVarStages) {}

  std::unique_ptr<Aggregator> make_aggregator(std::size_t stage,
                                              std::uint32_t values) const override {
    if (stage != 0) return ArTopkCodec::make_aggregator(stage, values);
    return make_gather_aggregator(*this, 0, values, sizeof(double));
  }

  // The root is chosen among the agents that sent an energy. If several have the same, the lowest
  // index wins.
  Result<std::uint32_t> root(const StageCall& call, std::size_t values) const override {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, 0, values, call.execution, call.combined.front()));
    TRIBUTARY_ASSIGN(const std::vector<GatherEntry> entries,
                     read_gather_entries(open, call.round.agents, sizeof(double)));
    std::uint32_t best = 0;
    double most = -1;
    for (const GatherEntry& entry : entries) {
      TRIBUTARY_ASSIGN(const double energy, read_energy(entry));
      if (energy <= most) continue;
      most = energy;
      best = entry.agent;
    }
    return best;
  }
  bool all_select() const override { return true; }

 private:
  static Result<double> read_energy(const GatherEntry& entry) {
    double energy = -1;
    if (entry.payload.size() == sizeof(energy)) {
      std::memcpy(&energy, entry.payload.data(), sizeof(energy));
    }
    if (std::isfinite(energy) && !std::signbit(energy)) return energy;
    return Status(StatusCode::corrupt_data, {.what = fmt::format("energy of agent {}", entry.agent),
                                             .expected = "a finite double, zero or more",
                                             .got = "something else",
                                             .remedy = "have the stage sent again"});
  }
};

}  // namespace

Result<std::unique_ptr<Codec>> make_randk(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<RandkCodec>(params));
}
Result<std::unique_ptr<Codec>> make_star_topk(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<StarTopkCodec>(params));
}
Result<std::unique_ptr<Codec>> make_var_topk(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<VarTopkCodec>(params));
}

}  // namespace tributary::sparse
