// What every codec is: a list of stages, each with a payload and the operation that combines it
// across agents. Whoever moves payloads (a collective, the coordinator, a test) asks a codec for
// its stages and kinds and never for its name.
//
//   agent        encoder.encode(stage 0) ─┐
//   aggregator                            add … finish ─┐
//   agent        encoder.encode(stage 1, combined[0]) ─ … ─ decode(combined[last])
//
// The stage that a call is about is the number of combined payloads it brings along.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/base/thread_pool.h"

namespace tributary {

// How the payloads of one stage become one.
enum class Combine : std::uint8_t {
  max,        // element-wise maximum
  sum,        // element-wise addition of what the payloads stand for
  broadcast,  // the root's payload, as it is
  gather,     // all of them travel; whoever receives them decodes them
};

// What an aggregator may do with payloads of the last stage.
enum class Aggregation : std::uint8_t {
  sum,     // add them as they are, without decoding
  reduce,  // decode, add, encode again
  gather,  // decode on arrival or at the end; encoded again only to go back down
};

std::string_view name(Combine combine);
std::string_view name(Aggregation aggregation);

struct Stage {
  std::string_view name;
  Combine combine;
};

// All backends give the same bytes; the scalar one is the specification.
enum class Backend : std::uint8_t { scalar, simd };

struct Execution {
  Backend backend = Backend::simd;
  ThreadPool* pool = nullptr;  // none: on the caller's thread
};

// A layer's part of a bucket, as a matrix of `rows` rows (1 for a vector); rows divides count.
struct LayerRun {
  std::uint32_t offset = 0;  // within the bucket
  std::uint32_t count = 0;
  std::uint32_t rows = 1;
};

// What a plan fixes for one bucket in one round; together with a payload's own bytes it is all that
// a decoder knows. Random draws are addressed by it.
struct RoundContext {
  std::uint64_t job_seed = 0;
  std::uint64_t round = 0;
  std::uint32_t bucket = 0;
  std::uint32_t agent = 0;                // this agent's index among the members
  std::uint32_t agents = 1;               // planned members: no aggregate has more contributors
  std::span<const LayerRun> layers = {};  // in order, without gaps; none: the bucket is one layer
};

struct OptimizerView;  // core/codec/optimizer_view.h

struct StageCall {
  RoundContext round;
  Execution execution = {};
  std::span<const ByteSpan> combined = {};   // the combined payloads of all stages before this one
  std::uint32_t contributors = 1;            // how many agents' updates the values are the sum of
  const OptimizerView* optimizer = nullptr;  // for encoders that look at it; none: they do without
  double keep = 1;  // for encoders of codecs with an own_share(): keep no more than this either

  std::size_t stage() const { return combined.size(); }
};

// One agent's side of one bucket, kept from round to round: a codec with memory keeps it here.
class Encoder {
 public:
  virtual ~Encoder() = default;

  // Writes the payload of stage call.stage(). `values` are the same in every stage of a round.
  // It stays empty where this agent has nothing to send in that stage (a broadcast has one root).
  // On an error the payload's content is undefined and must not be sent.
  virtual Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) = 0;

  // Tells what became of the last encoded round, for an encoder that remembers what it sent or what
  // all agents have received. `combined` holds the combined payloads of all stages, or nothing
  // where the round was given up; `committed` says whether this agent's contribution is in them.
  virtual void settle(std::span<const ByteSpan> /*combined*/, bool /*committed*/) {}
};

// Combines one stage's payloads of one bucket on arrival, in memory that does not grow with their
// number. begin, add…, finish, settle; then begin again for the next round.
class Aggregator {
 public:
  virtual ~Aggregator() = default;

  // `residual` is where an aggregator that encodes again keeps what that encoding lost; it may be
  // empty, and then the loss is lost. It belongs to the caller, because residuals belong to
  // coordinates and must outlive any bucketing.
  virtual Status begin(const StageCall& call, std::span<float> residual) = 0;

  // Takes one agent's payload or a partial aggregate of several. A payload that is refused leaves
  // the aggregate as it was.
  virtual Status add(const StageCall& call, ByteSpan payload) = 0;

  // Takes one agent's values as they are, where that costs or loses less than their payload would;
  // they stay where and as they are until finish(). False: they have to be encoded.
  virtual Result<bool> add_values(const StageCall& /*call*/, std::span<const float> /*values*/) {
    return false;
  }

  // Writes the combined payload of all that was added.
  virtual Status finish(const StageCall& call, Bytes& combined) = 0;

  // Tells what became of the finished aggregate, so that its residual is kept or dropped.
  virtual void settle(bool /*committed*/) {}

  virtual std::uint32_t contributors() const = 0;
};

// Immutable and shared freely between threads; what is remembered is in encoders and aggregators.
class Codec {
 public:
  virtual ~Codec() = default;

  // The canonical spec string: the same codec always prints the same one.
  virtual const std::string& spec() const = 0;
  virtual std::span<const Stage> stages() const = 0;
  virtual Aggregation aggregation() const = 0;
  // A lossless codec carries every bit pattern through.
  virtual bool lossy() const = 0;
  // Whether NaN and Inf arrive as they were sent; a codec that does not carry them refuses them.
  virtual bool carries_not_finite() const { return !lossy(); }
  // Whether what is sent and what is held back add up to the update, so that error feedback may be
  // wrapped round it. A codec that changes the update on purpose (DGC's momentum correction and
  // masking) keeps its own memory in its encoder instead and is given updates as they are. So is
  // one whose error can be larger than the update (QSGD in few bits): it is unbiased instead.
  virtual bool conserves() const { return true; }
  // Whether an encoding's error is smaller than what was encoded, so that error feedback converges.
  // Unbiased random rounding onto few levels loses more than it keeps: such a codec's residual
  // would grow without bound, and it is measured without one.
  virtual bool contracts() const { return true; }

  // The share of the values that an agent keeps, where it may also keep less than others do
  // (StageCall::keep): its payload says by itself which values it holds, and whoever decodes it
  // need not know of the share. Nothing: all agents keep the same.
  virtual std::optional<double> own_share() const { return std::nullopt; }

  virtual std::unique_ptr<Encoder> make_encoder(std::uint32_t values) const = 0;
  virtual std::unique_ptr<Aggregator> make_aggregator(std::size_t stage,
                                                      std::uint32_t values) const = 0;

  // Writes the sum over the payload's contributors. The payload is one of the last stage, of one
  // agent or combined; call.combined holds the stages before it. On an error `sum` is undefined.
  virtual Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const = 0;

  // sum += what decode() gives. A payload that is refused leaves `sum` as it was. `scratch` is as
  // long as `sum`; a codec that adds while it decodes does not touch it.
  virtual Status decode_add(const StageCall& call, ByteSpan payload, std::span<float> scratch,
                            std::span<float> sum) const;
};

}  // namespace tributary
