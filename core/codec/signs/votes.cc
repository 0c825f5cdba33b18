// The codec signSGD with majority vote. Every agent sends the signs of its update, an aggregator
// counts them, and the majority's sign is the step. A tie decodes to zero.
//
//   body, layout 0: the signs of one agent, one bit each
//         layout 1, 2, 3: number of contributors that voted for minus, in 8, 16 or 32 bits;
//         the narrowest that can count the planned number of agents
#include <atomic>
#include <type_traits>

#include "core/codec/aggregate/aggregate.h"
#include "core/codec/chunks.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/signs/device_loops.h"
#include "core/codec/signs/families.h"
#include "core/codec/signs/sign_bits.h"

namespace tributary::signs {
namespace {

constexpr Stage kVoteStages[] = {{"votes", Combine::sum}};

// The values are the layout byte of a payload and must not change.
enum Layout : std::uint8_t { kSigns, kCounts8, kCounts16, kCounts32 };

constexpr std::size_t body_bytes(std::uint8_t layout, std::size_t values) {
  return layout == kSigns ? sign_bytes(values) : values << (layout - kCounts8);
}

// Calls visit(counts) with a pointer of the type that the layout states. The layout must not be
// kSigns.
template <typename Byte, typename Visit>
void visit_counts(std::uint8_t layout, Byte* body, const Visit& visit) {
  using std::conditional_t;
  constexpr bool kConst = std::is_const_v<Byte>;
  switch (layout) {
    case kCounts8:
      return visit(body);
    case kCounts16:
      return visit(
          reinterpret_cast<conditional_t<kConst, const std::uint16_t, std::uint16_t>*>(body));
    default:
      return visit(
          reinterpret_cast<conditional_t<kConst, const std::uint32_t, std::uint32_t>*>(body));
  }
}

Status bad_votes(std::string expected) {
  return Status(StatusCode::corrupt_data, {.what = "signsgd votes",
                                           .expected = std::move(expected),
                                           .got = "something else, which no encoder writes",
                                           .remedy = "have the bucket sent again"});
}

// Checks an untrusted body. No count may exceed the number of contributors, so the sum of accepted
// payloads cannot overflow its counters.
Status check_votes(const OpenPayload& payload) {
  const PayloadHeader& header = payload.header;
  if (header.layout > kCounts32 || (header.layout == kSigns && header.contributors != 1)) {
    return bad_votes("layout 0 of one contributor, or counts");
  }
  const std::size_t bytes = body_bytes(header.layout, header.values);
  if (payload.body.size() != bytes) return wrong_body_size("signsgd", bytes, payload.body.size());
  if (header.layout == kSigns) {
    return padding_is_zero(payload.body, header.values) ? Status() : bad_votes("zero padding");
  }
  bool within = true;
  visit_counts(header.layout, payload.body.data(), [&](const auto* counts) {
    for (std::size_t i = 0; i < header.values; ++i) within &= counts[i] <= header.contributors;
  });
  return within ? Status() : bad_votes("no more votes than voters");
}

class VoteAggregator final : public CombiningAggregator {
 public:
  VoteAggregator(const Codec& codec, std::uint32_t values)
      : CombiningAggregator(codec, 0, values) {}

 private:
  static std::uint8_t layout_for(std::uint32_t agents) {
    return agents <= 0xff ? kCounts8 : agents <= 0xffff ? kCounts16 : kCounts32;
  }
  Result<Shape> shape_for(std::uint32_t agents) const override {
    return Shape{.layout = layout_for(agents),
                 .body_bytes = body_bytes(layout_for(agents), values_)};
  }
  Status check_addable(const StageCall&, UncheckedPayload&) const override { return {}; }
  Status check_body(const OpenPayload& payload) const override { return check_votes(payload); }

  void combine(const Execution& execution, const OpenPayload& payload, bool first,
               MutableByteSpan accumulator) const override {
    // An empty bucket has an empty body in every layout, so the layout could not be found below.
    if (values_ == 0) return;
    // The accumulator's size determines its layout, because values_ is not 0.
    std::uint8_t layout = kCounts8;
    while (body_bytes(layout, values_) != accumulator.size()) ++layout;
    visit_counts(layout, accumulator.data(), [&](auto* counts) {
      for_each_chunk(execution, values_, kChunkValues,
                     [&](std::size_t, std::size_t begin, std::size_t end) {
                       if (first) std::fill(counts + begin, counts + end, 0);
                       add_votes(payload, begin, end, counts);
                     });
    });
  }

  template <typename Count>
  static void add_votes(const OpenPayload& payload, std::size_t begin, std::size_t end,
                        Count* counts) {
    const std::uint8_t* const body = payload.body.data();
    if (payload.header.layout == kSigns) {
      for (std::size_t i = begin; i < end; ++i) {
        counts[i] = static_cast<Count>(counts[i] + (body[i / 8] >> (i % 8) & 1));
      }
      return;
    }
    visit_counts(payload.header.layout, body, [&](const auto* more) {
      for (std::size_t i = begin; i < end; ++i) {
        counts[i] = static_cast<Count>(counts[i] + more[i]);
      }
    });
  }
};

// Always encodes one agent: the payload's contributors stay at the default of 1.
class VoteEncoder final : public Encoder {
 public:
  explicit VoteEncoder(const Codec& codec) : codec_(codec) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .layout = kSigns,
                       .values = static_cast<std::uint32_t>(values.size())},
                      sign_bytes(values.size()), payload);
    bool finite = true;
    const bool done = encoded_on_device(call, &CodecDevice::signs, [&](DeviceLoops& device) {
      const Result<std::uint32_t> largest = device.encode_signs(values, body.data());
      finite = largest.ok() && is_finite(*largest);
      return largest.status();
    });
    if (!done) finite = encode_on_host(call.execution, values, body.data());
    if (!finite) return not_finite_error(call, values);
    seal_payload(call.execution, payload);
    return {};
  }

 private:
  // Returns false if any value is NaN or Inf.
  static bool encode_on_host(const Execution& execution, std::span<const float> values,
                             std::uint8_t* bits) {
    std::atomic<bool> finite = true;
    for_each_chunk(execution, values.size(), kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     const auto part = values.subspan(begin, end - begin);
                     if (!pack_signs(part, bits + begin / 8)) finite = false;
                   });
    return finite;
  }

  const Codec& codec_;
};

class VoteCodec final : public Codec {
 public:
  explicit VoteCodec(const Params& params)
      : spec_(params.canonical("signsgd")), scale_(static_cast<float>(params.real("scale"))) {}

  const std::string& spec() const override { return spec_; }
  std::span<const Stage> stages() const override { return kVoteStages; }
  Aggregation aggregation() const override { return Aggregation::sum; }
  bool lossy() const override { return true; }
  // The majority's sign differs on purpose from the sum of the sent signs, so no residual may be
  // kept.
  bool conserves() const override { return false; }
  // A vote is the same in every round.
  bool outlives_round() const override { return true; }

  std::unique_ptr<Encoder> make_encoder(std::uint32_t) const override {
    return std::make_unique<VoteEncoder>(*this);
  }
  std::unique_ptr<Aggregator> make_aggregator(std::size_t, std::uint32_t values) const override {
    return std::make_unique<VoteAggregator>(*this, values);
  }

  // Returns the step times the number of contributors, so that the mean over contributors is one
  // step.
  Status decode(const StageCall& call, ByteSpan payload, std::span<float> sum) const override {
    TRIBUTARY_ASSIGN(const OpenPayload open,
                     open_payload_of(*this, 0, sum.size(), call.execution, payload));
    TRIBUTARY_TRY(check_votes(open));
    const float step = scale_ * static_cast<float>(open.header.contributors);
    if (decode_on_device(call, open, step, sum)) return {};
    for_each_chunk(call.execution, sum.size(), kChunkValues,
                   [&](std::size_t, std::size_t begin, std::size_t end) {
                     decode_chunk(open, begin, step, sum.subspan(begin, end - begin));
                   });
    return {};
  }

 private:
  // Returns false if the host must decode.
  static bool decode_on_device(const StageCall& call, const OpenPayload& open, float step,
                               std::span<float> sum) {
    return done_on_device(call, &CodecDevice::signs, [&](DeviceLoops& device) {
      if (open.header.layout == kSigns) return device.decode_signs(open.body.data(), step, sum);
      Status status;
      visit_counts(open.header.layout, open.body.data(), [&](const auto* counts) {
        status = device.decode_votes(std::span(counts, sum.size()), open.header.contributors, step,
                                     sum.data());
      });
      return status;
    });
  }

  static void decode_chunk(const OpenPayload& open, std::size_t begin, float step,
                           std::span<float> sum) {
    if (open.header.layout == kSigns) {
      unpack_signs(open.body.data() + begin / 8, step, -step, sum);
      return;
    }
    const std::uint32_t voters = open.header.contributors;
    visit_counts(open.header.layout, open.body.data(), [&](const auto* counts) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = step_of_vote(counts[begin + i], voters, step);
      }
    });
  }

  const std::string spec_;
  const float scale_;
};

}  // namespace

Result<std::unique_ptr<Codec>> make_signsgd(const Params& params) {
  return std::unique_ptr<Codec>(std::make_unique<VoteCodec>(params));
}

}  // namespace tributary::signs
