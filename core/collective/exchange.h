// One member's part in an exchange among peers: payloads come in, payloads go out, and in the end
// every member holds the same bytes of every bucket. No socket, clock or thread is inside, and
// nothing waits: whoever drives it says when input is final, what has arrived, and when to give up.
//
// Each bucket goes its own way through its codec's stages, so that encoding, sending, adding and
// decoding of different buckets overlap. What is done with a stage follows from its operation:
//
//   max, sum, and a gather before the last stage    up the tree to the owner, combined on the way;
//                                                   the result comes down again
//   broadcast                                       from its root down the root's tree
//   last stage of a codec that gathers,             from everybody to everybody
//   and all of all_gather but broadcasts
//
// Sums are made in one order (own values, then children's as the tree names them), whatever comes
// first, so that the same updates always give the same model. What comes out is what LocalExchange
// does with the same tree.
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

// Which payload this is. Each comes once from each sender.
struct Piece {
  std::uint32_t bucket = 0;
  std::uint8_t stage = 0;
  bool partial = false;      // on its way up; everything else is the same for all who get it
  std::uint32_t origin = 0;  // partial: who sends it; else who made it

  friend auto operator<=>(const Piece&, const Piece&) = default;
};

struct PeerSend {
  std::uint32_t to = 0;
  Piece piece;
  SharedSlice payload;
};
using PeerSends = std::vector<PeerSend>;

// What is worth keeping from round to round: aggregators, and the buffers that payloads are made
// in. Aggregators that add what is encoded are used for one bucket at a time, and buckets of one
// kind share one; those that encode again may remember what they encoded, and are the bucket's own.
// Codecs outlive it.
class ExchangeCache {
 public:
  Aggregator& aggregator(const Codec& codec, std::size_t stage, std::uint32_t values,
                         std::uint32_t bucket);
  // Empty, with room for the largest payload so far.
  Bytes buffer();
  // The buffer comes back when nobody holds the payload any more.
  SharedSlice share(Bytes payload);

 private:
  static constexpr std::size_t kSpareBytesMax = 16u << 20;

  using Key = std::tuple<const Codec*, std::size_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::unique_ptr<Aggregator>> aggregators_;
  BufferPool buffers_{kSpareBytesMax};
  std::size_t largest_ = 0;
};

struct ExchangeBucket {
  const Codec* codec = nullptr;
  Encoder* encoder = nullptr;    // kept from round to round by the caller, who settles it
  std::span<const float> input;  // stays where and as it is until the exchange is over
  RoundContext round;            // agent and agents are set by the exchange
  const OptimizerView* optimizer = nullptr;
};

class PeerExchange {
 public:
  // All of them outlive the exchange.
  PeerExchange(const Routes& routes, std::uint32_t rank, std::vector<ExchangeBucket> buckets,
               ExchangeCache& cache, const Execution& execution);

  // The bucket's input is final. On an error, here and in receive(), the exchange is to be given
  // up: nothing of it may be applied.
  Status begin(std::uint32_t bucket, PeerSends& out);

  // `from` is who the transport has proven it to be. What came before is ignored.
  Status receive(std::uint32_t from, const Piece& piece, SharedSlice payload, PeerSends& out);

  std::uint32_t buckets() const { return static_cast<std::uint32_t>(buckets_.size()); }
  std::uint32_t buckets_open() const { return open_; }
  bool whole(std::uint32_t bucket) const;
  bool is_last_stage(const Piece& piece) const { return last(buckets_[piece.bucket], piece.stage); }
  // The members whom this one waits for, for people to read.
  std::vector<std::uint32_t> waiting_for() const;

  // --- of a bucket that is whole ---

  // Of each stage but the last, as StageCall::combined wants them.
  std::vector<ByteSpan> combined(std::uint32_t bucket) const;
  // The last stage: one payload, or everybody's in the order of ranks where they were not combined.
  std::vector<SharedSlice> results(std::uint32_t bucket) const;
  // The sum over all members, the same bits at each. `scratch` is as long as `sum`.
  Status decode(std::uint32_t bucket, std::span<float> scratch, std::span<float> sum) const;
  // What the input had and this member's encodings had not: its residual if the bucket counts.
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
    std::size_t stage = 0;  // that is at work; as many as there are: whole
    std::vector<StageWork> stages;
    SharedSlice own;   // this member's payload of the last stage, where it made one
    FloatVector left;  // of codecs that encode sums again
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
  const std::vector<ExchangeBucket> buckets_;
  ExchangeCache& cache_;
  const Execution execution_;
  std::vector<BucketWork> work_;
  std::uint32_t open_;
};

}  // namespace tributary
