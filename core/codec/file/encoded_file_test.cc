// Tests of files of encoded buckets, for every codec: they decode like an exchange with one agent,
// and any cut or flipped bit is an error.
#include "core/codec/file/encoded_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/base/bytes/damaged_testing.h"
#include "core/codec/codec_testing.h"
#include "core/codec/file/encoded_file_testing.h"

namespace tributary {
namespace {

using codec_testing::bits_of;
using codec_testing::codec_of;
using codec_testing::Pattern;
using codec_testing::update;
using encoded_file_testing::decode;
using encoded_file_testing::encode;
using encoded_file_testing::make_checksums_fit;
using testing::HasSubstr;

// Encodes with small buckets of 100 values, so that a file has several.
Bytes encoded(const std::string& spec, std::span<const float> values,
              std::uint32_t bucket_values = 100, const EncodedFileWork& work = {}) {
  Result<Bytes> file = encode(*codec_of(spec), {.bucket_values = bucket_values}, values, work);
  EXPECT_TRUE(file.ok()) << file.status().text();
  return file.ok() ? std::move(*file) : Bytes();
}

// The result that one bucket has in an exchange with a single agent.
FloatVector played_alone(const Codec& codec, std::span<const float> values,
                         const RoundContext& round) {
  const SystemClock clock;
  LocalExchange exchange(codec, static_cast<std::uint32_t>(values.size()), 1, false, clock);
  FloatVector sum(values.size());
  const std::span<const float> updates[] = {values};
  EXPECT_TRUE(exchange.play(round, {}, updates, sum).ok());
  return sum;
}

class EveryCodec : public testing::TestWithParam<std::string> {};

// The sixth bucket of the file has the index that codec_testing uses, so its draws are the same.
TEST_P(EveryCodec, DecodesLikeASingleAgent) {
  const auto codec = codec_of(GetParam());
  for (const std::size_t count : {1u, 99u, 100u}) {
    const FloatVector values = update(Pattern::integers, 500 + count, 0);
    const std::vector<FloatVector> last_bucket = {{values.begin() + 500, values.end()}};
    codec_testing::Round alone(*codec, last_bucket, 1);
    FloatVector expected(count);
    const Status decoded =
        codec->decode(alone.call(alone.last()), alone.payload(alone.last(), 0), expected);
    ASSERT_TRUE(decoded.ok()) << decoded.text();

    const Result<Bytes> file = encode(*codec, {.bucket_values = 100, .job_seed = 3}, values);
    ASSERT_TRUE(file.ok()) << file.status().text();
    const Result<FloatVector> back = decode(*file);
    ASSERT_TRUE(back.ok()) << back.status().text();
    ASSERT_EQ(back->size(), values.size());
    EXPECT_EQ(bits_of(std::span<const float>(*back).subspan(500)), bits_of(expected));
    if (!codec->lossy()) {
      EXPECT_EQ(bits_of(*back), bits_of(values));
    }
  }
}

TEST_P(EveryCodec, EmptyUpdatesComeBackEmpty) {
  const Result<FloatVector> back = decode(encoded(GetParam(), {}));
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_TRUE(back->empty());
}

// Many small buckets are divided among threads; a large bucket is divided internally.
TEST_P(EveryCodec, WritesTheSameBytesWithAnyNumberOfThreads) {
  const FloatVector values = update(Pattern::lognormal, 100'000, 0);
  ThreadPool pool(3);
  const EncodedFileWork shared = {.execution = {.pool = &pool}};
  for (const std::uint32_t bucket_values : {777u, 70'000u, 1u << 20}) {
    const Bytes alone = encoded(GetParam(), values, bucket_values);
    ASSERT_EQ(alone, encoded(GetParam(), values, bucket_values, shared));
    const Result<FloatVector> one = decode(alone);
    const Result<FloatVector> three = decode(alone, shared);
    ASSERT_TRUE(one.ok() && three.ok());
    EXPECT_EQ(bits_of(*one), bits_of(*three));
  }
}

TEST_P(EveryCodec, CutAtAnyByteIsAnError) {
  const Bytes whole = encoded(GetParam(), update(Pattern::normal, 150, 0));
  for_each_cut(whole, [&](const Bytes& cut) {
    const Result<FloatVector> back = decode(cut);
    ASSERT_FALSE(back.ok()) << "cut after " << cut.size() << " of " << whole.size();
    EXPECT_EQ(back.status().code(), StatusCode::corrupt_data) << back.status().text();
  });
}

TEST_P(EveryCodec, AnyFlippedBitIsAnError) {
  const Bytes whole = encoded(GetParam(), update(Pattern::normal, 70, 0), 64);
  for_each_flipped_bit(whole, [&](const Bytes& flipped) {
    EXPECT_FALSE(decode(flipped).ok())
        << "byte " << std::ranges::mismatch(flipped, whole).in1 - flipped.begin();
  });
}

// With corrected checksums, some flips produce another valid file. decode() then checks that its
// size agrees with its header.
TEST_P(EveryCodec, AnyFlippedBitWithFittingChecksumsIsAnErrorOrValid) {
  const Bytes whole = encoded(GetParam(), update(Pattern::normal, 70, 0), 64);
  std::size_t valid = 0;
  for_each_flipped_bit(whole, [&](Bytes flipped) {
    make_checksums_fit(flipped);
    const Result<FloatVector> back = decode(flipped);
    if (back.ok()) ++valid;
    // A disagreement between a payload and the file's header is damage of the file. io_error would
    // mean a read outside the file.
    EXPECT_NE(back.status().code(), StatusCode::mismatch) << back.status().text();
    EXPECT_NE(back.status().code(), StatusCode::io_error) << back.status().text();
  });
  EXPECT_GT(valid, 64u) << "job seed and round alone have 128 bits that decoding may ignore";
}

INSTANTIATE_TEST_SUITE_P(Codecs, EveryCodec, testing::ValuesIn(codec_testing::default_specs()),
                         codec_testing::test_name);

// A second encoding by an aggregator would lose precision twice.
TEST(EncodedFile, KeepsTheAgentsOwnPayloadOfTheLastStage) {
  const auto codec = codec_of("int8");
  const FloatVector values = update(Pattern::lognormal, 64, 0);
  Bytes payload;
  ASSERT_TRUE(codec->make_encoder(64)->encode({.round = {.job_seed = 1}}, values, payload).ok());
  const Bytes file = encoded("int8", values);
  ASSERT_GE(file.size(), payload.size());
  // After the fixed header, the padded spec and the record's header.
  const std::size_t place = 48 + 8 + 8;
  EXPECT_TRUE(std::equal(payload.begin(), payload.end(), file.begin() + place));
}

// The last stage needs the combined payload of the first one.
TEST(EncodedFile, DecodesStagesTogether) {
  const FloatVector values = update(Pattern::lognormal, 300, 0);
  const auto codec = codec_of("int8_shared");
  const Result<FloatVector> back = decode(encoded("int8_shared", values, 300));
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(bits_of(*back), bits_of(played_alone(*codec, values, {.job_seed = 1})));
}

// Equal values in two buckets must be rounded by different draws. The spikes give both buckets the
// same scale.
TEST(EncodedFile, DrawsDifferByBucketAndSeed) {
  const FloatVector values(200, 0.3f);
  const auto codec = codec_of("int8:rounding=random");
  FloatVector spiked = values;
  spiked[0] = spiked[100] = 1.0f;
  const Result<FloatVector> back = decode(encoded("int8:rounding=random", spiked));
  ASSERT_TRUE(back.ok());
  const auto bits = bits_of(*back);
  EXPECT_FALSE(std::equal(bits.begin(), bits.begin() + 100, bits.begin() + 100));
  const Result<Bytes> other = encode(*codec, {.bucket_values = 100, .job_seed = 2}, spiked);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(bits_of(*decode(*other)), bits);
}

TEST(EncodedFile, NamesTheFirstBadElementOfTheFile) {
  FloatVector values(1000, 1.0f);
  // In different buckets, which threads encode at the same time.
  values[350] = std::numeric_limits<float>::quiet_NaN();
  values[720] = std::numeric_limits<float>::infinity();
  ThreadPool pool(3);
  const Result<Bytes> file =
      encode(*codec_of("int8"), {.bucket_values = 100}, values, {.execution = {.pool = &pool}});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), StatusCode::not_finite);
  EXPECT_THAT(file.status().fault().what, HasSubstr("element 350"));
}

TEST(EncodedFile, RefusesAnUpdateThatIsNotFloats) {
  const Bytes seven(7);
  const Status status =
      encode_file(*codec_of("fp32"), {}, encoded_file_testing::MemorySource(seven), {},
                  [](ByteSpan) -> Status { return {}; });
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  // Seven bytes are not a number of float32 values.
  EXPECT_EQ(status.fault().got, "7 bytes");
}

TEST(EncodedFile, RefusesBucketSizesOutOfRange) {
  for (const std::uint32_t bucket_values : {0u, kBucketValuesMax + 1}) {
    const Result<Bytes> file =
        encode(*codec_of("fp32"), {.bucket_values = bucket_values}, FloatVector(3));
    EXPECT_EQ(file.status().code(), StatusCode::invalid_argument);
  }
}

TEST(EncodedFile, StopsOnRequest) {
  const FloatVector values(100'000, 1.0f);
  std::uint64_t calls = 0;
  const EncodedFileWork stop_at_second = {.execution = {},
                                          .progress = [&](std::uint64_t done, std::uint64_t total) {
                                            EXPECT_LE(done, total);
                                            return ++calls < 2;
                                          }};
  const Result<Bytes> file =
      encode(*codec_of("fp16"), {.bucket_values = 10}, values, stop_at_second);
  EXPECT_EQ(file.status().code(), StatusCode::cancelled);
  calls = 0;
  const Bytes whole = encoded("fp16", values, 10);
  EXPECT_EQ(decode(whole, stop_at_second).status().code(), StatusCode::cancelled);
  EXPECT_EQ(calls, 2u);
}

TEST(EncodedFile, PassesTheSinksErrorOn) {
  const FloatVector values(10, 1.0f);
  const Status status =
      encode_file(*codec_of("fp32"), {},
                  encoded_file_testing::MemorySource(bytes_of(std::span<const float>(values))), {},
                  [](ByteSpan) { return Status(StatusCode::io_error, {.what = "disk"}); });
  EXPECT_EQ(status.code(), StatusCode::io_error);
}

TEST(EncodedFile, RefusesBytesAfterTheEnd) {
  Bytes file = encoded("fp16", FloatVector(5, 1.0f));
  file.resize(file.size() + 8, 0);
  EXPECT_THAT(decode(file).status().text(), HasSubstr("8 bytes more"));
}

TEST(EncodedFile, RefusesBucketsInAnotherOrder) {
  const FloatVector values = update(Pattern::normal, 200, 0);
  Bytes file = encoded("fp32", values);
  const auto records = file.begin() + 48 + 8;
  const auto half = (file.end() - records) / 2;
  // Exchanges the records of both buckets, whose payloads remain valid.
  std::rotate(records, records + half, file.end());
  const Status status = decode(file).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_THAT(status.text(), HasSubstr("byte 56: expected a record of bucket 0"));
}

// A size that no file of this length can contain is refused before memory is allocated.
TEST(EncodedFile, RefusesClaimsBeyondTheFilesSize) {
  for (const std::uint64_t values :
       {std::uint64_t{1000}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    Bytes file = encoded("fp32", FloatVector(5, 1.0f));
    std::memcpy(file.data() + 16, &values, sizeof(values));
    make_checksums_fit(file);
    const Status status = decode(file).status();
    EXPECT_EQ(status.code(), StatusCode::corrupt_data);
    EXPECT_THAT(status.fault().what, HasSubstr("byte 16"));
  }
}

TEST(EncodedFile, NamesAnUnknownCodecOrVersion) {
  Bytes file = encoded("fp32", FloatVector(5, 1.0f));
  // Changes the spec "fp32" to "fp39".
  file[48 + 3] = '9';
  make_checksums_fit(file);
  Status status = decode(file).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_THAT(status.text(), HasSubstr("codec 'fp39'"));

  file = encoded("fp32", FloatVector(5, 1.0f));
  file[8] = 2;
  make_checksums_fit(file);
  status = decode(file).status();
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_THAT(status.text(), HasSubstr("byte 8: expected version 1, got 2"));
}

TEST(EncodedFile, RefusesASpecThatIsNotCanonical) {
  // 4096 is the default, so the canonical spec omits it.
  Bytes file = encoded_file_header_bytes({.spec = "int8:block=4096", .bucket_values = 1});
  EXPECT_THAT(decode(file).status().text(), HasSubstr("the canonical 'int8'"));
}

}  // namespace
}  // namespace tributary
