// The codecs topk, mstopk and threshold, and the shared parts of dgc, which dgc.cc implements.
#include "core/codec/sparse/own_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/codec/chunks.h"
#include "core/codec/sparse/aggregators.h"
#include "core/codec/sparse/families.h"

namespace tributary::sparse {
namespace {

constexpr Stage kOwnPlacesStages[] = {{"values", Combine::gather}};

// Selects exactly k values, in the whole bucket or in each layer.
class TopkEncoder final : public OwnPlacesEncoder {
 public:
  TopkEncoder(const Codec& codec, double ratio, bool by_layer)
      : OwnPlacesEncoder(codec, IndexChoice::smallest), ratio_(ratio), by_layer_(by_layer) {}

 private:
  Result<Selection> select(const StageCall& call, std::span<const float> values) override {
    if (by_layer_ && !call.round.layers.empty()) return select_by_layer(call, values);
    return selector_.top(call, values, kept_of(share_kept(ratio_, call), values.size()));
  }

  // On the host: layers may begin at any index, and a device reads aligned groups of values.
  Result<Selection> select_by_layer(const StageCall& call, std::span<const float> values) {
    TRIBUTARY_TRY(check_layers(call.round.layers, values.size()));
    TRIBUTARY_TRY(check_finite(call.execution, values));  // an error must name the index
    places_.clear();
    const double ratio = share_kept(ratio_, call);
    // Layers are in ascending order, so the concatenated indices are ascending.
    for (const LayerRun& layer : call.round.layers) {
      TRIBUTARY_ASSIGN(
          const std::span<const std::uint32_t> places,
          layer_selector_.top(call.execution, values.subspan(layer.offset, layer.count),
                              kept_of(ratio, layer.count)));
      for (const std::uint32_t place : places) places_.push_back(layer.offset + place);
    }
    return Selection{.indices = places_};
  }

  // The sum is 64 bits wide, so that hostile counts cannot overflow it.
  static Status check_layers(std::span<const LayerRun> layers, std::size_t values) {
    std::uint64_t end = 0;
    for (const LayerRun& layer : layers) {
      if (layer.offset != end) break;
      end += layer.count;
    }
    if (end == values) return {};
    return Status(StatusCode::invalid_argument,
                  {.what = "layers of the bucket",
                   .expected = fmt::format("all of its {} values, in order", values),
                   .got = fmt::format("a gap, an overlap or an end at {}", end),
                   .remedy = "plan buckets from the layer map"});
  }

  const double ratio_;
  const bool by_layer_;
  CallSelector selector_;
  Selector layer_selector_;
  IndexVector places_;
};

class TopkCodec final : public OwnPlacesCodec {
 public:
  explicit TopkCodec(const Params& params)
      : OwnPlacesCodec(params.canonical("topk"), params.real("cr")),
        ratio_(params.real("cr")),
        by_layer_(params.choice("scope") == "layer") {}
  bool whole_layers() const override { return by_layer_; }
  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<TopkEncoder>(*this, ratio_, by_layer_);
  }

 private:
  const double ratio_;
  const bool by_layer_;
};

// Selects k values by a threshold from a limited number of bisections. Near the threshold, the
// choice is by index and not by magnitude.
class MstopkEncoder final : public OwnPlacesEncoder {
 public:
  MstopkEncoder(const Codec& codec, double ratio, unsigned bisections)
      : OwnPlacesEncoder(codec, IndexChoice::smallest), ratio_(ratio), bisections_(bisections) {}

 private:
  Result<Selection> select(const StageCall& call, std::span<const float> values) override {
    return selector_.bisected(call, values, kept_of(share_kept(ratio_, call), values.size()),
                              bisections_);
  }

  const double ratio_;
  const unsigned bisections_;
  CallSelector selector_;
};

class MstopkCodec final : public OwnPlacesCodec {
 public:
  explicit MstopkCodec(const Params& params)
      : OwnPlacesCodec(params.canonical("mstopk"), params.real("cr")),
        ratio_(params.real("cr")),
        bisections_(static_cast<unsigned>(params.integer("bisections"))) {}
  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<MstopkEncoder>(*this, ratio_, bisections_);
  }

 private:
  const double ratio_;
  const unsigned bisections_;
};

// Selects all values that reach a sampled threshold, so the number of values varies. The bitmap's
// size does not depend on that number.
class ThresholdEncoder final : public OwnPlacesEncoder {
 public:
  ThresholdEncoder(const Codec& codec, double keep, double sample)
      : OwnPlacesEncoder(codec, IndexChoice::bitmap), keep_(keep), sample_(sample) {}

 private:
  Result<Selection> select(const StageCall& call, std::span<const float> values) override {
    return selector_.sampled(
        call, values,
        sampled_rank(sample_, values.size(), share_kept(keep_, call), sample_stream(call.round)),
        std::nullopt);
  }

  const double keep_;
  const double sample_;
  CallSelector selector_;
};

class ThresholdCodec final : public OwnPlacesCodec {
 public:
  explicit ThresholdCodec(const Params& params)
      : OwnPlacesCodec(params.canonical("threshold"), params.real("keep")),
        keep_(params.real("keep")),
        sample_(params.real("sample")) {}
  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<ThresholdEncoder>(*this, keep_, sample_);
  }

 private:
  const double keep_;
  const double sample_;
};

}  // namespace

std::span<const Stage> OwnPlacesCodec::stages() const { return kOwnPlacesStages; }

std::unique_ptr<Aggregator> OwnPlacesCodec::make_aggregator(std::size_t,
                                                            std::uint32_t values) const {
  return make_sparse_sum_aggregator(*this, values);
}

Status OwnPlacesCodec::read(const StageCall& call, ByteSpan payload, std::size_t values,
                            SparseValues& sparse) const {
  TRIBUTARY_ASSIGN(const OpenPayload open,
                   open_payload_of(*this, 0, values, call.execution, payload));
  return read_sparse_values(call.execution, open, sparse);
}

Status OwnPlacesCodec::decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const {
  SparseValues sparse;
  TRIBUTARY_TRY(read(call, payload, sum.size(), sparse));
  scatter_in_call(call, sparse.indices, sparse.values.data(), sum);
  return {};
}

// Processes only the received values. With a ratio of one thousandth, the other elements are not
// touched.
Status OwnPlacesCodec::decode_add(const StageCall& call, ByteSpan payload, std::span<float>,
                                  std::span<float> sum) const {
  SparseValues sparse;
  TRIBUTARY_TRY(read(call, payload, sum.size(), sparse));
  for_each_chunk(call.execution, sparse.indices.size(), kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     sum[sparse.indices[i]] += sparse.values[i];
                   }
                 });
  return {};
}

Status OwnPlacesEncoder::encode(const StageCall& call, std::span<const float> values,
                                Bytes& payload) {
  TRIBUTARY_ASSIGN(const Selection selection, select(call, values));
  send(call, selection, values, payload);
  return {};
}

void OwnPlacesEncoder::send(const StageCall& call, const Selection& selection,
                            std::span<const float> values, Bytes& payload) const {
  const PayloadHeader header = {.spec = codec_.spec(),
                                .contributors = call.contributors,
                                .values = static_cast<std::uint32_t>(values.size())};
  if (selection.values.empty()) {
    write_sparse_values(call.execution, header, choice_, selection.indices, values, payload);
  } else {
    write_picked_values(call.execution, header, choice_, selection.indices, selection.values,
                        payload);
  }
  seal_payload(call.execution, payload);
}

double share_kept(double share, const StageCall& call) { return std::min(share, call.keep); }

// The agent is part of the address, so agents sample different values.
StreamKey sample_stream(const RoundContext& round) {
  return stream_key({.job_seed = round.job_seed,
                     .round = round.round,
                     .bucket = round.bucket,
                     .purpose = DrawPurpose::selection,
                     .agent = round.agent});
}

Result<std::unique_ptr<Codec>> make_topk(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<TopkCodec>(params));
}
Result<std::unique_ptr<Codec>> make_mstopk(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<MstopkCodec>(params));
}
Result<std::unique_ptr<Codec>> make_threshold(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<ThresholdCodec>(params));
}

}  // namespace tributary::sparse
