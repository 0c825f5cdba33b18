// One member's part in an exchange among peers. Payloads go in and out, and in the end every member
// holds the same bytes of every bucket.
//
// The object contains no socket, clock or thread, and it never waits. Its driver reports when input
// is final and when a piece has arrived, sends the pieces in `out`, and decides when to give up. It
// is used by one thread at a time.
//
// Each bucket passes through its codec's stages independently, so encoding, sending, adding and
// decoding of different buckets overlap. The operation of a stage determines the path of its
// payloads:
//
//   max, sum, and a gather before the last stage    up the tree to the owner, combined on the way;
//                                                   the result goes down again
//   broadcast                                       from its root down the root's tree
//   last stage of a codec that gathers,             from every member to every member
//   and all stages of all_gather but broadcasts
//
// Sums are computed in a fixed order (own values, then the children's in the order of the tree),
// whatever the order of arrival, so equal updates always give an equal model. The result equals
// that of LocalExchange with the same tree.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "core/codec/codec.h"
#include "core/collective/routes.h"
#include "core/net/buffer_pool.h"
#include "core/net/shared_slice.h"

namespace tributary {

// Identifies a payload. Each sender sends each piece once.
struct Piece {
  std::uint32_t bucket = 0;
  std::uint8_t stage = 0;
  // A partial sum that goes up; all other pieces are the same for all receivers.
  bool partial = false;
  std::uint32_t origin = 0;  // partial: the sender; otherwise the member that made the payload

  friend auto operator<=>(const Piece&, const Piece&) = default;
};

// A piece that the driver must send to member `to`.
struct PeerSend {
  std::uint32_t to = 0;
  Piece piece;
  SharedSlice payload;
};
using PeerSends = std::vector<PeerSend>;

// Objects that are reused from round to round: aggregators and payload buffers. Aggregators that
// add encoded values are used for one bucket at a time, and buckets of the same codec, stage and
// size share one. Aggregators that encode again have a memory and belong to one bucket. The codecs
// must outlive the cache. Not thread-safe.
class ExchangeCache {
 public:
  Aggregator& aggregator(const Codec& codec, std::size_t stage, std::uint32_t values,
                         std::uint32_t bucket);
  // Returns an empty buffer with a capacity for the largest payload so far.
  Bytes buffer();
  // Shares the payload. Its buffer returns to the cache when no reference remains.
  SharedSlice share(Bytes payload);

 private:
  static constexpr std::size_t kSpareBytesMax = 16u << 20;

  using Key = std::tuple<const Codec*, std::size_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::unique_ptr<Aggregator>> aggregators_;
  BufferPool buffers_{kSpareBytesMax};
  std::size_t largest_ = 0;
};

// The input of an exchange for one bucket.
struct ExchangeBucket {
  const Codec* codec = nullptr;
  Encoder* encoder = nullptr;         // kept from round to round and settled by the caller
  std::span<const float> input = {};  // must stay valid and unchanged from begin() to the end
  RoundContext round;                 // the exchange sets agent and agents
  const OptimizerView* optimizer = nullptr;  // as `input`; null: none
  EncodingFacts* facts = nullptr;            // null: not counted
};

// The exchange of all buckets of one round, seen by the member `rank`. begin() is called once per
// bucket, and receive() for each piece that arrives, also before begin().
class PeerExchange {
 public:
  // Routes, cache, codecs and encoders must outlive the exchange. rank < routes.members().
  PeerExchange(const Routes& routes, std::uint32_t rank, std::vector<ExchangeBucket> buckets,
               ExchangeCache& cache, const Execution& execution);

  // Reports that the bucket's input is final; repeated calls have no effect. After an error here or
  // in receive() the exchange must be abandoned, and nothing of it may be applied.
  Status begin(std::uint32_t bucket, PeerSends& out);
  // The same with an input that did not exist when the exchange was made.
  Status begin(std::uint32_t bucket, std::span<const float> input, PeerSends& out);

  // Takes a piece. `from` is the sender as authenticated by the transport. A repeated piece is
  // ignored. Fails with mismatch if the piece does not belong at this place of the exchange, or
  // with the codec's error for a bad payload.
  Status receive(std::uint32_t from, const Piece& piece, SharedSlice payload, PeerSends& out);

  std::uint32_t buckets() const { return static_cast<std::uint32_t>(buckets_.size()); }
  // Number of buckets without a complete result.
  std::uint32_t buckets_open() const { return open_; }
  // True if the bucket's result is complete.
  bool whole(std::uint32_t bucket) const;
  bool is_last_stage(const Piece& piece) const { return last(buckets_[piece.bucket], piece.stage); }
  // The members for which this one is waiting, for messages to people.
  std::vector<std::uint32_t> waiting_for() const;

  // --- only for a bucket that is whole ---

  // Combined payloads of all stages but the last, in the form of StageCall::combined.
  std::vector<ByteSpan> combined(std::uint32_t bucket) const;
  // The last stage: one payload, or the payloads of all members in rank order if they were not
  // combined.
  std::vector<SharedSlice> results(std::uint32_t bucket) const;
  // The sum over all members, with the same bits at each. `scratch` has the length of `sum`.
  Status decode(std::uint32_t bucket, std::span<float> scratch, std::span<float> sum) const;
  // The part of the input that this member's encodings lost. It becomes the residual if the bucket
  // counts.
  Status left_over(std::uint32_t bucket, std::span<float> left) const;

 private:
  struct StageWork {
    bool done = false;               // this member's own part
    std::vector<SharedSlice> parts;  // reduced: by child; gathered: by rank
    std::uint32_t arrived = 0;       // of parts
    SharedSlice result;              // empty: not there; gathered in the last stage has none
    std::uint32_t origin = 0;        // of the result
  };
  struct BucketWork {
    bool begun = false;
    std::size_t stage = 0;  // the current stage; stages.size() if the bucket is whole
    std::vector<StageWork> stages;
    SharedSlice own;   // this member's payload of the last stage, if it made one
    FloatVector left;  // only for codecs that encode sums again: the loss of that encoding
  };

  StageFlow flow(const ExchangeBucket& bucket, std::size_t stage) const;
  bool last(const ExchangeBucket& bucket, std::size_t stage) const {
    return stage + 1 == bucket.codec->stages().size();
  }
  bool encodes_again(const ExchangeBucket& bucket, std::size_t stage) const;
  StageCall call_of(std::uint32_t bucket, std::span<const ByteSpan> combined) const;
  std::vector<ByteSpan> combined_before(const BucketWork& work, std::size_t stage) const;

  Status advance(std::uint32_t bucket, PeerSends& out);
  Result<bool> work_on_stage(std::uint32_t bucket, PeerSends& out);
  Status reduce(std::uint32_t bucket, PeerSends& out);
  Status combine_own_with_parts(std::uint32_t bucket, Bytes& sum);
  Status send_own(std::uint32_t bucket, StageFlow flow, PeerSends& out);
  Status combine_all(std::uint32_t bucket);
  void send_down(const Piece& piece, const SharedSlice& payload, PeerSends& out) const;

  Status take_partial(std::uint32_t from, const Piece& piece, SharedSlice payload);
  Status take_result(std::uint32_t from, const Piece& piece, SharedSlice payload, PeerSends& out);
  Status check_place(const Piece& piece) const;

  const Routes& routes_;
  const std::uint32_t rank_;
  std::vector<ExchangeBucket> buckets_;
  ExchangeCache& cache_;
  const Execution execution_;
  std::vector<BucketWork> work_;
  std::uint32_t open_;
};

}  // namespace tributary
