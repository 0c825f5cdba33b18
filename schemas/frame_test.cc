// Tests of frames: their envelope, versions and checks. Damaged frames are refused before any field
// is read.
#include "schemas/frame.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>

#include "core/base/bytes/damaged_testing.h"
#include "schemas/fill_testing.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

using ::testing::HasSubstr;

// The bytes in a block of exactly their size, so that the sanitizer detects a read past their end.
class ExactBlock {
 public:
  explicit ExactBlock(ByteSpan bytes)
      : bytes_(std::make_unique<std::uint8_t[]>(bytes.size())), size_(bytes.size()) {
    if (size_ > 0) std::memcpy(bytes_.get(), bytes.data(), size_);
  }
  ByteSpan span() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;  // new[] aligns for any fundamental type
  std::size_t size_;
};

// Reads everything in an accepted frame, in place and unpacked.
void use_all_of(const wire::Frame& frame) {
  EXPECT_FALSE(wire::Dump::of(frame).empty());
  const std::unique_ptr<wire::FrameT> unpacked(frame.UnPack());
  EXPECT_EQ(unpacked->message.type, frame.message_type());
}

Bytes copy_of(ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); }

class EveryKind : public ::testing::TestWithParam<wire::FilledFrame> {
 protected:
  Bytes frame() const { return copy_of(GetParam().bytes); }
};

// Every kind of message with every field: nothing is lost between bytes and objects.
TEST_P(EveryKind, IsBuiltOpenedAndReadAsItWasWritten) {
  const Bytes written = frame();
  const auto opened = open_frame(written);
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  const std::unique_ptr<wire::FrameT> unpacked((*opened)->UnPack());

  const auto rebuilt = build_frame(*unpacked);
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status().text();
  const auto reopened = open_frame(*rebuilt);
  ASSERT_TRUE(reopened.ok()) << reopened.status().text();
  EXPECT_EQ(wire::Dump::of(**reopened), wire::Dump::of(**opened));
  const std::unique_ptr<wire::FrameT> again((*reopened)->UnPack());
  EXPECT_EQ(*again, *unpacked);
}

// At every length, in a block of exactly that size.
TEST_P(EveryKind, IsRefusedWhenCutShort) {
  const Bytes whole = frame();
  for_each_cut(whole, [&](const Bytes& cut) {
    const ExactBlock block(cut);
    const auto opened = open_frame(block.span());
    // The end may be padding; the frame is then complete without it.
    if (opened.ok()) {
      EXPECT_GE(cut.size() + wire::kFrameAlignment, whole.size());
      use_all_of(**opened);
    } else {
      EXPECT_FALSE(opened.status().fault().expected.empty());
    }
  });
}

TEST_P(EveryKind, IsRefusedOrSoundWithAnyBitFlipped) {
  const Bytes whole = frame();
  std::size_t refused = 0;
  for_each_flipped_bit(whole, [&](const Bytes& flipped) {
    const ExactBlock block(flipped);
    const auto opened = open_frame(block.span());
    if (opened.ok()) {
      use_all_of(**opened);
    } else {
      EXPECT_FALSE(opened.status().fault().what.empty());
      ++refused;
    }
  });
  EXPECT_GT(refused, 64u);  // at least the bytes of the identifier and the root offset
}

TEST_P(EveryKind, IsRefusedAboveItsCap) {
  const std::size_t bytes_max =
      wire::rules_of((*open_frame(frame()))->message_type()).frame_bytes_max;
  Bytes frame_and_more = frame();
  frame_and_more.resize(bytes_max, 0);
  EXPECT_TRUE(open_frame(frame_and_more).ok()) << open_frame(frame_and_more).status().text();
  frame_and_more.resize(bytes_max + 1, 0);
  EXPECT_EQ(open_frame(frame_and_more).status().code(), StatusCode::resource_exhausted);
}

TEST_P(EveryKind, IsRefusedWithoutItsIdentifier) {
  Bytes other = frame();
  other[4] = 'X';
  const Status status = open_frame(other).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.text(), HasSubstr("identifier TRIB"));
}

TEST_P(EveryKind, IsRefusedMisalignedUnlessItMayBeCopied) {
  const Bytes whole = frame();
  for (std::size_t shift = 1; shift < wire::kFrameAlignment; ++shift) {
    Bytes shifted(shift, 0);
    shifted.insert(shifted.end(), whole.begin(), whole.end());
    const ByteSpan misaligned = ByteSpan(shifted).subspan(shift);
    EXPECT_EQ(open_frame(misaligned).status().code(), StatusCode::invalid_argument);
    Bytes aligned;
    const auto opened = open_frame(misaligned, aligned);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    use_all_of(**opened);
    EXPECT_EQ(aligned.size(), whole.size());
  }
  Bytes unused;
  EXPECT_TRUE(open_frame(whole, unused).ok());
  EXPECT_TRUE(unused.empty()) << "an aligned frame is read in place";
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, ::testing::ValuesIn(wire::filled_frames()),
                         [](const auto& kind) { return kind.param.kind; });

TEST(Frame, TooLargeIsRefusedBeforeItIsReadOrCopied) {
  const Bytes noise(wire::kFrameBytesMax + 2, 0xFF);
  EXPECT_EQ(open_frame(noise).status().code(), StatusCode::resource_exhausted);
  Bytes aligned;
  const ByteSpan misaligned = ByteSpan(noise).subspan(1);
  EXPECT_EQ(open_frame(misaligned, aligned).status().code(), StatusCode::resource_exhausted);
  EXPECT_TRUE(aligned.empty());
}

TEST(Frame, AFrameWithoutAMessageIsRefused) {
  EXPECT_EQ(build_frame(wire::FrameT()).status().code(), StatusCode::corrupt_data);
  EXPECT_EQ(open_frame({}).status().code(), StatusCode::corrupt_data);
}

TEST(Frame, AnUnknownKindIsUnsupportedAndNamed) {
  wire::FrameT ack = frame_with(wire::AckT());
  ack.session = 1;
  ack.in_reply_to = 1;
  Bytes bytes = *build_frame(ack);
  // Finds the byte of the frame that holds the kind.
  const auto kind = static_cast<std::uint8_t>(wire::Message::Ack);
  const std::uint8_t unknown = 200;
  std::size_t found = 0;
  for (std::uint8_t& byte : bytes) {
    if (byte != kind) continue;
    byte = unknown;
    if (open_frame(bytes).status().code() == StatusCode::unsupported) {
      ++found;
      EXPECT_EQ(open_frame(bytes).status().fault().got, "kind 200");
    }
    byte = kind;
  }
  EXPECT_EQ(found, 1u);
}

// A list that refers to one large table many times would unpack into far more than was sent.
TEST(Frame, AFrameThatUsesItsBytesTwiceIsRefused) {
  flatbuffers::FlatBufferBuilder builder;
  const auto text = builder.CreateString(std::string(1000, 'a'));
  const auto event = wire::CreateEvent(builder, 1, wire::Severity::info, text, text);
  const auto events =
      builder.CreateVector(std::vector<flatbuffers::Offset<wire::Event>>(1000, event));
  wire::TelemetryBuilder telemetry(builder);
  telemetry.add_events(events);
  const auto message = telemetry.Finish();
  wire::FinishFrameBuffer(
      builder, wire::CreateFrame(builder, 1, 1, 0, 1, wire::Message::Telemetry, message.Union()));
  const auto bytes = builder.GetBufferSpan();
  const Status status = open_frame(copy_of({bytes.data(), bytes.size()})).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.text(), HasSubstr("share bytes"));
}

TEST(Frame, AJobOfTheLargestLayerMapFits) {
  auto job = wire::JobT();
  const auto filled = wire::filled_frames();
  for (const wire::FilledFrame& frame : filled) {
    if (frame.kind == "Job") wire::GetFrame(frame.bytes.data())->message_as_Job()->UnPackTo(&job);
  }
  job.layer_map->layers.clear();
  for (std::uint32_t i = 0; i < wire::kLayersMax; ++i) {
    auto layer = std::make_unique<wire::LayerT>();
    layer->name = std::string(35, 'n') + std::to_string(10000 + i % 90000);
    layer->kind = wire::LayerKind::parameter;
    layer->shape = {64, 64, 3, 3};
    layer->values = 64 * 64 * 3 * 3;
    job.layer_map->layers.push_back(std::move(layer));
  }
  wire::FrameT frame = frame_with(std::move(job));
  frame.session = frame.message_id = 1;
  const auto built = build_frame(frame);
  EXPECT_TRUE(built.ok()) << built.status().text();

  frame.message.AsJob()->layer_map->layers.push_back(std::make_unique<wire::LayerT>());
  EXPECT_EQ(build_frame(frame).status().code(), StatusCode::resource_exhausted);
}

TEST(Version, TheHighestThatBothSpeakIsAgreedOn) {
  EXPECT_EQ(*agree_on_version({1, 1}, {1, 1}), 1u);
  EXPECT_EQ(*agree_on_version({1, 3}, {2, 5}), 3u);
  EXPECT_EQ(*agree_on_version({2, 5}, {1, 3}), 3u);
  EXPECT_EQ(*agree_on_version({1, 9}, {4, 4}), 4u);
  EXPECT_TRUE(agree_on_version({}, {}).ok());
}

TEST(Version, WithoutACommonVersionTheErrorNamesTheSideToUpdate) {
  const Status too_old = agree_on_version({3, 4}, {1, 2}).status();
  EXPECT_EQ(too_old.text(),
            "unsupported: protocol version: expected one of 3 to 4, got 1 to 2; "
            "update the other side");
  const Status too_new = agree_on_version({1, 2}, {3, 4}).status();
  EXPECT_THAT(too_new.text(), HasSubstr("update this side"));
  EXPECT_EQ(agree_on_version({1, 2}, {2, 1}).status().code(), StatusCode::unsupported);
  EXPECT_EQ(agree_on_version({1, 2}, {0, 2}).status().code(), StatusCode::unsupported);
}

}  // namespace
}  // namespace tributary
