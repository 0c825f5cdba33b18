// The codec dgc: Deep Gradient Compression. Each agent keeps u (the velocity) and v (the values
// that it has not sent yet):
//
//   u = m u + x,  v = v + u          momentum correction
//   send v where |v| reaches a threshold taken from a sample, at most k values; in the first rounds
//   more of them (warm-up)
//   u = v = 0 where v was sent       momentum factor masking, once the round is committed
//
// v replaces the residual, and x is an update without a residual. If a round is committed without
// this agent, nothing is masked and v keeps everything.
#include <algorithm>

#include "core/codec/chunks.h"
#include "core/codec/sparse/families.h"
#include "core/codec/sparse/kernels.h"
#include "core/codec/sparse/own_places.h"

namespace tributary::sparse {
namespace {

// The parameters of the codec, after parsing. `sample` is a fraction of the bucket.
struct DgcOptions {
  double ratio;
  float momentum;
  double sample;
  std::uint64_t warmup_rounds;
};

// The share of the values that is kept in a round; the first is 1. In the warm-up it falls from a
// quarter to `ratio` by factors of a quarter, each for about the same number of rounds. All
// operations are exact, so every device computes the same share.
double share_in_round(const DgcOptions& options, std::uint64_t round) {
  const std::uint64_t before = std::max<std::uint64_t>(round, 1) - 1;
  if (before >= options.warmup_rounds) return options.ratio;
  std::uint64_t steps = 0;  // quarters above the ratio
  for (double share = 0.25; share > options.ratio; share /= 4) ++steps;
  double share = 0.25;
  for (std::uint64_t step = before * steps / options.warmup_rounds; step > 0; --step) share /= 4;
  return std::max(share, options.ratio);
}

// The encoder keeps three arrays of the bucket's size or less: u, v, and the indices of the last
// round.
class DgcEncoder final : public OwnPlacesEncoder {
 public:
  DgcEncoder(const Codec& codec, const DgcOptions& options, std::uint32_t values)
      : OwnPlacesEncoder(codec, IndexChoice::smallest),
        options_(options),
        velocity_(values, 0.0f),
        accumulated_(values, 0.0f) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    TRIBUTARY_TRY(check_finite(call.execution, values));  // a NaN would stay in u and v for ever
    for_each_chunk(call.execution, values.size(), kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     kernels(call.execution.backend)
                         .correct_momentum(values.data() + begin, end - begin, options_.momentum,
                                           velocity_.data() + begin, accumulated_.data() + begin);
                   });
    TRIBUTARY_ASSIGN(const Selection selection, select(call, accumulated_));
    // settle() masks these indices if the round is committed.
    sent_.assign(selection.indices.begin(), selection.indices.end());
    send(call, selection, accumulated_, payload);
    return {};
  }

  void settle(std::span<const ByteSpan>, bool committed) override {
    if (committed) {
      for (const std::uint32_t place : sent_) velocity_[place] = accumulated_[place] = 0;
    }
    sent_.clear();
  }

 private:
  Result<Selection> select(const StageCall& call, std::span<const float> values) override {
    const double share = share_kept(share_in_round(options_, call.round.round), call);
    return selector_.sampled(
        call, values,
        sampled_rank(options_.sample, values.size(), share, sample_stream(call.round)),
        kept_of(share, values.size()));
  }

  const DgcOptions options_;
  FloatVector velocity_;
  FloatVector accumulated_;
  IndexVector sent_;
  CallSelector selector_;
};

class DgcCodec final : public OwnPlacesCodec {
 public:
  explicit DgcCodec(const Params& params)
      : OwnPlacesCodec(params.canonical("dgc"), params.real("cr")),
        options_({.ratio = params.real("cr"),
                  .momentum = static_cast<float>(params.real("momentum")),
                  .sample = params.real("sample"),
                  .warmup_rounds = static_cast<std::uint64_t>(params.integer("warmup"))}) {}

  // u and v hold back values in their own form, so an outer residual would count them twice.
  bool conserves() const override { return false; }
  // settle() masks what the last encoded payload has sent.
  bool outlives_round() const override { return false; }
  std::unique_ptr<Encoder> make_encoder(std::uint32_t values) const override {
    return std::make_unique<DgcEncoder>(*this, options_, values);
  }

 private:
  const DgcOptions options_;
};

}  // namespace

Result<std::unique_ptr<Codec>> make_dgc(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<DgcCodec>(params));
}

}  // namespace tributary::sparse
