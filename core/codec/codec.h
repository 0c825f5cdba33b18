// The interface of every codec: a list of stages, each with a payload and the operation that
// combines the payloads of all agents.
//
// A collective, the coordinator and the tests ask a codec for its stages and their operations. They
// never depend on its name. A round of one bucket passes through the three classes below in this
// order:
//
//   agent        encoder.encode(stage 0) ─┐
//   aggregator                            add … finish ─┐
//   agent        encoder.encode(stage 1, combined[0]) ─ … ─ decode(combined[last])
//
// The index of a call's stage is the number of combined payloads that it holds
// (StageCall::combined). No call keeps a reference to its StageCall, to the spans in it or to a
// payload, except where a comment says so.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"
#include "core/update/layer_runs.h"

namespace tributary {

// The operation that combines the payloads of one stage into one payload.
enum class Combine : std::uint8_t {
  max,        // element-wise maximum
  sum,        // element-wise addition of the values that the payloads represent
  broadcast,  // the payload of one agent (the root), unchanged
  gather,     // all payloads are kept; the receiver decodes each
};

// The operations that an aggregator may apply to payloads of the last stage.
enum class Aggregation : std::uint8_t {
  sum,     // add them as they are, without decoding
  reduce,  // decode, add, encode again
  gather,  // decode on arrival or at the end; encode again only for the downlink
};

std::string_view name(Combine combine);
std::string_view name(Aggregation aggregation);

// One step of a codec's exchange. Most codecs have exactly one.
struct Stage {
  std::string_view name;
  Combine combine;
};

// The implementation that a call uses. All backends produce the same bytes; the scalar one is the
// specification.
enum class Backend : std::uint8_t { scalar, simd };

class CodecDevice;  // core/codec/device/codec_device.h

// How a call runs. The result does not depend on it.
struct Execution {
  Backend backend = Backend::simd;
  ThreadPool* pool = nullptr;  // not owned; null: run on the caller's thread
  // Not owned. Codecs with loops for a device use it before the host. Null: the host does all work.
  CodecDevice* device = nullptr;
};

// The values that a plan fixes for one bucket in one round. A decoder knows these, the payload's
// bytes and nothing else. They are also the address of every random draw of the bucket.
struct RoundContext {
  std::uint64_t job_seed = 0;
  std::uint64_t round = 0;
  std::uint32_t bucket = 0;
  std::uint32_t agent = 0;   // this agent's index among the members
  std::uint32_t agents = 1;  // planned members; an upper bound on an aggregate's contributors
  std::span<const LayerRun> layers = {};  // ascending, without gaps; empty: the bucket is one layer
};

struct OptimizerView;  // core/codec/optimizer_view.h

// Counts for the facts of a round. Encoders add to them.
struct EncodingFacts {
  // The part of a layer that lies in a bucket.
  struct LayerBits {
    std::uint32_t values = 0;
    std::uint64_t bits = 0;  // of all its values on the uplink, without envelopes
  };

  std::uint64_t mantissa_bits_dropped = 0;         // of all values; a value of float32 has 23
  std::set<std::uint32_t> buckets_on_device = {};  // whose newest payload a device has encoded
  // By bucket and offset in the bucket, for codecs that divide bits among blocks.
  std::map<std::pair<std::uint32_t, std::uint32_t>, LayerBits> layer_bits = {};
};

// The arguments that all calls for one stage of one bucket share. It owns nothing: the caller keeps
// the spans and the optimizer's view alive until the call returns.
struct StageCall {
  RoundContext round;
  Execution execution = {};
  std::span<const ByteSpan> combined = {};  // combined payloads of all earlier stages
  std::uint32_t contributors = 1;  // number of agents whose updates the values are the sum of
  const OptimizerView* optimizer = nullptr;  // null: encode without the optimizer's state
  double keep = 1;  // upper bound on the share of values to keep, for codecs with own_share()
  EncodingFacts* facts = nullptr;  // null: not counted
  // Aggregators refuse payloads (not_finite) with NaN, Inf or values beyond addend_max()
  // (core/codec/finite.h). Otherwise codecs that carry every bit pattern add them as they are.
  bool finite_only = false;
  // Not null: the values that an encoder reads, or that a decoder writes, are on the device
  // (core/codec/device/device_vector.h). It makes them those of the host.
  const std::function<void()>* before_host = nullptr;

  // The codec calls it before the host reads or writes the values.
  void host_takes_over() const {
    if (before_host != nullptr) (*before_host)();
  }
  std::size_t stage() const { return combined.size(); }
};

// One agent's state for one bucket, kept from round to round. Not thread-safe: one call at a time.
class Encoder {
 public:
  virtual ~Encoder() = default;

  // Writes the payload of stage call.stage(). The caller passes the same `values` in every stage of
  // a round. The payload stays empty if this agent sends nothing in that stage; in a broadcast only
  // the root sends. On an error (usually not_finite) the payload's content is undefined and must
  // not be sent.
  virtual Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) = 0;

  // Reports the outcome of the last encoded round, for encoders that remember what they sent or
  // what all agents received. `combined` holds the combined payloads of all stages, or nothing if
  // the round was aborted. `committed` is true if this agent's contribution is part of them.
  virtual void settle(std::span<const ByteSpan> /*combined*/, bool /*committed*/) {}
};

// Combines the payloads of one stage of one bucket as they arrive. Its memory does not grow with
// the number of payloads. The order of calls is begin, add…, finish, settle; begin then starts the
// next round. Not thread-safe: one call at a time.
class Aggregator {
 public:
  virtual ~Aggregator() = default;

  // Starts a round. An aggregator that encodes again stores the loss of that encoding in
  // `residual`, which it uses until settle(); if `residual` is empty, the loss is discarded. The
  // caller owns the residual, because a residual belongs to coordinates of the model and must
  // outlive any division into buckets.
  virtual Status begin(const StageCall& call, std::span<float> residual) = 0;

  // Adds one agent's payload, or a partial aggregate of several agents. A payload that is refused
  // leaves the aggregate unchanged: corrupt_data for damage, not_finite for numbers that cannot be
  // added, mismatch or unsupported for a payload
  // of another plan or version, resource_exhausted for more contributors than planned,
  // already_exists for a second payload of an agent in a gather.
  virtual Status add(const StageCall& call, ByteSpan payload) = 0;

  // Adds one agent's values without encoding them, if the aggregator can do so at a lower cost or
  // with a lower loss than through a payload. The caller keeps the values alive and unchanged until
  // finish(). Returns false if the caller must encode them.
  virtual Result<bool> add_values(const StageCall& /*call*/, std::span<const float> /*values*/) {
    return false;
  }

  // Writes the combined payload of everything that was added since begin(). Returns unavailable if
  // nothing was added.
  virtual Status finish(const StageCall& call, Bytes& combined) = 0;

  // Reports whether the finished aggregate was committed, so that its residual is kept or dropped.
  virtual void settle(bool /*committed*/) {}

  // Number of agents whose updates were added since begin().
  virtual std::uint32_t contributors() const = 0;
};

// The description of a codec and the factory of its encoders and aggregators. It is immutable, and
// all threads may share it. Encoders and aggregators hold all state; they refer to the codec, which
// must outlive them.
class Codec {
 public:
  virtual ~Codec() = default;

  // The canonical spec string. Two codecs with the same parameters have the same string.
  virtual const std::string& spec() const = 0;
  // The stages in the order in which they run; one or more.
  virtual std::span<const Stage> stages() const = 0;
  // The operation of an aggregator for payloads of the last stage.
  virtual Aggregation aggregation() const = 0;
  // Whether decoded values may differ from the encoded ones. A lossless codec preserves every bit
  // pattern.
  virtual bool lossy() const = 0;
  // Whether NaN and Inf arrive as they were sent. Other codecs refuse a bucket that contains them
  // (not_finite).
  virtual bool carries_not_finite() const { return !lossy(); }
  // Whether the sent part and the part held back add up to the update, as error feedback requires.
  // A codec that changes the update on purpose, such as DGC with momentum correction and masking,
  // returns false. It keeps its own memory in its encoder and receives updates without a residual.
  // A codec whose error can exceed the update, such as QSGD with few bits, also returns false: it
  // is unbiased instead.
  virtual bool conserves() const { return true; }
  // Whether the error of an encoding is smaller than its input, so that error feedback converges.
  // Unbiased random rounding to few levels loses more than it keeps. The residual of such a codec
  // would grow without bound, so its error is dropped.
  virtual bool contracts() const { return true; }
  // Whether the error of an encoding is kept and sent later, as error feedback does.
  bool keeps_error() const { return lossy() && conserves() && contracts(); }

  // The share of the values that an agent keeps, if an agent may keep fewer than the others
  // (StageCall::keep). A payload of such a codec states which values it contains, so a decoder does
  // not need the share. Empty: all agents keep the same share.
  virtual std::optional<double> own_share() const { return std::nullopt; }

  // Whether a later round may count a payload: the codec has one stage, a decoder needs nothing of
  // the round in which the payload was encoded, and the encoder need not learn which round counts
  // it. The address of an addend in a sum may follow from the round, unless its bytes are the
  // values.
  virtual bool outlives_round() const {
    return stages().size() == 1 && (stages()[0].combine == Combine::gather || !lossy());
  }

  // Whether an encoder's payload depends on StageCall::optimizer. The caller then passes a view if
  // it has one; the payload decodes without it.
  virtual bool reads_optimizer() const { return false; }
  // Whether the codec treats each layer of a bucket as a unit, for example as a matrix. Its buckets
  // then hold whole layers, and whole rows of a layer that is too large for a bucket. Other codecs
  // accept any division of the update.
  virtual bool whole_layers() const { return false; }

  // Both factories require that `values` is the number of values in the bucket. An encoder starts
  // without memory of earlier rounds.
  virtual std::unique_ptr<Encoder> make_encoder(std::uint32_t values) const = 0;
  virtual std::unique_ptr<Aggregator> make_aggregator(std::size_t stage,
                                                      std::uint32_t values) const = 0;

  // Writes the sum over the payload's contributors to `sum`. The payload belongs to the last stage
  // and is one agent's or a combined one; call.combined holds the combined payloads of the earlier
  // stages. Does not trust the payload: any bytes lead to values or to an error. On an error `sum`
  // is undefined.
  virtual Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const = 0;

  // Adds the result of decode() to `sum`. A payload that is refused leaves `sum` unchanged.
  // `scratch` must be as long as `sum`; a codec that adds while it decodes does not use it.
  virtual Status decode_add(const StageCall& call, ByteSpan payload, std::span<float> scratch,
                            std::span<float> sum) const;
};

}  // namespace tributary
