// Base classes of the codecs whose agents each select their own indices: one gather stage with
// sparse values.
//
// A codec is immutable and shared by all threads; an encoder serves one thread at a time
// (core/codec/codec.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/codec/codec.h"
#include "core/codec/sparse/device/call_selector.h"
#include "core/codec/sparse/select.h"
#include "core/codec/sparse/sparse_body.h"

namespace tributary::sparse {

// Implements everything except the encoder. `share` is the fraction of the values that an agent
// keeps.
class OwnPlacesCodec : public Codec {
 public:
  OwnPlacesCodec(std::string spec, double share) : spec_(std::move(spec)), share_(share) {}

  const std::string& spec() const final { return spec_; }
  std::span<const Stage> stages() const final;
  Aggregation aggregation() const final { return Aggregation::gather; }
  bool lossy() const final { return true; }
  std::optional<double> own_share() const final { return share_; }
  std::unique_ptr<Aggregator> make_aggregator(std::size_t stage, std::uint32_t values) const final;
  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const final;
  Status decode_add(const StageCall& call, ByteSpan payload, std::span<float> scratch,
                    std::span<float> sum) const final;

 private:
  Status read(const StageCall& call, ByteSpan payload, std::size_t values,
              SparseValues& sparse) const;

  const std::string spec_;
  const double share_;
};

// Selects indices and writes the values at them. A derived class implements the selection.
class OwnPlacesEncoder : public Encoder {
 public:
  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override;

 protected:
  OwnPlacesEncoder(const Codec& codec, IndexChoice choice) : codec_(codec), choice_(choice) {}

  // Returns the values to send, valid until the next selection. Refuses NaN and Inf (not_finite).
  virtual Result<Selection> select(const StageCall& call, std::span<const float> values) = 0;

  // Writes the payload with the selected ones of `values`.
  void send(const StageCall& call, const Selection& selection, std::span<const float> values,
            Bytes& payload) const;

 private:
  const Codec& codec_;
  const IndexChoice choice_;
};

// The fraction that an agent keeps: the codec's share, limited by StageCall::keep.
double share_kept(double share, const StageCall& call);

// The stream from which an agent draws its sample of one bucket in one round.
StreamKey sample_stream(const RoundContext& round);

}  // namespace tributary::sparse
