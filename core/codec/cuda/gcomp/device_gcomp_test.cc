// Compares a device's payloads, values and codebooks with those of the scalar specification. Built
// for the emulated device everywhere and, where nvcc is, for a GPU. Skipped, with the reason, if
// the device is not available.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/gcomp/gcomp.h"
#include "core/codec/cuda/gcomp/loops.h"
#include "core/codec/gcomp/chunk.h"
#include "core/codec/optimizer_view.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::codec_of;
using codec_testing::kPatterns;
using codec_testing::Pattern;

class DeviceGComp : public testing::Test {
 protected:
  void SetUp() override {
    const Status available = device_available();
    if (!available.ok()) GTEST_SKIP() << available.text();
    device_->report_errors_to([](const Status& error) { ADD_FAILURE() << error.text(); });
  }

  Execution on_device() const { return {.backend = Backend::scalar, .device = device_.get()}; }

  static StageCall call(const Execution& execution, std::uint64_t round,
                        const OptimizerView* view = nullptr, EncodingFacts* facts = nullptr) {
    return {.round = {.job_seed = 3, .round = round},
            .execution = execution,
            .optimizer = view,
            .facts = facts};
  }

  // Encodes in several rounds, and decodes what was encoded.
  void compare(const std::string& spec, const FloatVector& update, std::uint64_t rounds,
               const OptimizerView* view = nullptr) const {
    const auto codec = codec_of(spec);
    const auto n = static_cast<std::uint32_t>(update.size());
    const auto specified = codec->make_encoder(n);
    const auto encoder = codec->make_encoder(n);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      Bytes expected;
      Bytes got;
      EncodingFacts expected_facts;
      EncodingFacts facts;
      ASSERT_TRUE(specified
                      ->encode(call({.backend = Backend::scalar}, round, view, &expected_facts),
                               update, expected)
                      .ok());
      ASSERT_TRUE(encoder->encode(call(on_device(), round, view, &facts), update, got).ok());
      ASSERT_EQ(got.size(), expected.size());
      ASSERT_TRUE(got == expected) << "round " << round;
      ASSERT_EQ(facts.mantissa_bits_dropped, expected_facts.mantissa_bits_dropped);
      ASSERT_TRUE(facts.buckets_on_device.contains(0));
      specified->settle({}, true);
      encoder->settle({}, true);
      compare_decoding(*codec, expected, n);
    }
  }

  // Both give the same values, or the same error.
  void compare_decoding(const Codec& codec, const Bytes& payload, std::uint32_t n) const {
    FloatVector expected(n, 0);
    FloatVector got(n, 0);
    const Status status = codec.decode(call({.backend = Backend::scalar}, 0), payload, expected);
    const Status device_status = codec.decode(call(on_device(), 0), payload, got);
    ASSERT_EQ(device_status.text(), status.text());
    if (status.ok()) {
      ASSERT_EQ(codec_testing::bits_of(got), codec_testing::bits_of(expected));
    }
  }

 private:
  const std::unique_ptr<CodecDevice> device_ = make_codec_device();
};

class DeviceGCompSpecs : public DeviceGComp, public testing::WithParamInterface<std::string> {};

TEST_P(DeviceGCompSpecs, AllPatternsAreTheSpecifications) {
  for (const Pattern pattern : kPatterns) {
    // Raw exponents, one segment, and several.
    for (const std::size_t size : {0u, 1u, 31u, 33u, 1023u, 1024u, 2050u, 9001u}) {
      SCOPED_TRACE(testing::Message() << size << " values, pattern " << static_cast<int>(pattern));
      compare(GetParam(), codec_testing::update(pattern, size, 0), 1);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Truncations, DeviceGCompSpecs,
                         testing::Values("gcomp", "gcomp:truncation=none",
                                         "gcomp:truncation=18,max_length=4"),
                         codec_testing::test_name);

// Values of many kinds: zeros of both signs, denormals, infinities and NaN, and few rare exponents.
FloatVector mixed_update(std::size_t n) {
  FloatVector update = codec_testing::update(Pattern::normal, n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 977 == 5) update[i] = std::numeric_limits<float>::quiet_NaN();
    if (i % 1999 == 7) update[i] = -std::numeric_limits<float>::infinity();
    if (i % 13 == 3) update[i] = 0;
    if (i % 501 == 11) update[i] = -0.0f;
    if (i % 333 == 17) update[i] = 1e-42f;
    if (i % 101 == 19) update[i] *= 1e20f;
  }
  return update;
}

TEST_F(DeviceGComp, SeveralChunksAreTheSpecifications) {
  const FloatVector update = mixed_update(2 * kGCompChunk + 4097);
  compare("gcomp:truncation=12", update, 1);
  compare("gcomp:truncation=none", update, 1);
}

TEST_F(DeviceGComp, CodebooksOfLaterRoundsAreTheSpecifications) {
  compare("gcomp:truncation=6,rebuild=1", codec_testing::update(Pattern::lognormal, 5000, 2), 3);
}

// Optimizers with a linear and with an adaptive metric.
TEST_F(DeviceGComp, LevelsByTheOptimizerAreTheSpecifications) {
  const FloatVector update = mixed_update(kGCompChunk + 3000);
  FloatVector parameters = codec_testing::update(Pattern::lognormal, update.size(), 3);
  FloatVector squares(update.size());
  for (std::size_t i = 0; i < update.size(); ++i) {
    if (i % 17 == 4) parameters[i] = 0;
    parameters[i] *= i % 3 == 0 ? 1e4f : 1e-4f;
    squares[i] = parameters[i] * parameters[i];
  }
  OptimizerView view = {.kind = OptimizerKind::momentum,
                        .learning_rate = 1e-2f,
                        .momentum = 0.9f,
                        .step = 9,
                        .parameters = parameters};
  compare("gcomp:truncation=metric", update, 1, &view);
  view.first_moment = update;
  compare("gcomp:truncation=metric", update, 1, &view);
  view.kind = OptimizerKind::adamw;
  view.beta1 = 0.9f;
  view.beta2 = 0.999f;
  view.epsilon = 1e-8f;
  view.second_moment = squares;
  compare("gcomp:truncation=metric", update, 1, &view);
  compare("gcomp", update, 1, &view);
}

TEST_F(DeviceGComp, DamagedPayloadsAreRefusedAsTheSpecificationDoes) {
  const auto codec = codec_of("gcomp:truncation=6");
  const FloatVector update = mixed_update(3001);
  Bytes payload;
  ASSERT_TRUE(codec->make_encoder(3001)
                  ->encode(call({.backend = Backend::scalar}, 0), update, payload)
                  .ok());
  const StreamKey key = stream_key({.job_seed = 11, .purpose = DrawPurpose::synthetic_data});
  // All bytes of the table of chunks, of the header and the first states, and others at random.
  const std::size_t body = payload.size() - open_payload({}, payload)->body.size();
  const std::size_t head = body + gcomp::kCodebookBytes;
  for (std::uint32_t turn = 0; turn < 150; ++turn) {
    Bytes damaged = payload;
    const std::size_t at =
        turn < 40 ? head + turn : head + random_bits(key, turn) % (payload.size() - head);
    damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1u << random_bits(key, turn + 999) % 8));
    seal_payload({}, damaged);
    SCOPED_TRACE(testing::Message() << "byte " << at);
    compare_decoding(*codec, damaged, 3001);
    if (HasFatalFailure()) return;
  }
}

// A peer's chunk with an end before the end of its parts.
TEST_F(DeviceGComp, ShortChunksAreFaults) {
  Workspaces workspaces;
  const auto loops = make_gcomp_loops(workspaces);
  const FloatVector update = codec_testing::update(Pattern::normal, 3000, 0);
  const gcomp::Codebook book = gcomp::make_codebook({}, 8, 0);
  Bytes chunk(gcomp::chunk_bytes_max(3000));
  const std::size_t size =
      gcomp::encode_chunk(gcomp::scalar_kernels(), nullptr, {}, true, update, chunk.data()).bytes;
  FloatVector values(3000);
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{8}, std::size_t{12}, std::size_t{3008}, size - 4, size}) {
    chunk.resize(bytes);
    const std::size_t begins[] = {0, bytes};
    const auto decoded = loops->decode(chunk, begins, &book, values);
    ASSERT_TRUE(decoded.ok()) << decoded.status().text();
    EXPECT_EQ(decoded->sound, bytes == size) << bytes;
    chunk.resize(gcomp::chunk_bytes_max(3000));
    gcomp::encode_chunk(gcomp::scalar_kernels(), nullptr, {}, true, update, chunk.data());
  }
}

template <typename T>
RawVector<T> downloaded(const Workspace& space, const T* device, std::size_t count) {
  RawVector<T> host(count);
  EXPECT_TRUE(space.download(device, std::span(host)).ok());
  EXPECT_TRUE(space.wait().ok());
  return host;
}

// Two blocks take several turns.
TEST_F(DeviceGComp, NarrowGridsGiveTheSameBytes) {
  const FloatVector update = mixed_update(kGCompChunk + 12'345);
  const gcomp::LevelRule rule = {.level = 1};
  gcomp::Histogram histogram = {};
  for (std::size_t i = 0; i < 5000; ++i) {
    ++histogram[gcomp::exponent_of(std::bit_cast<std::uint32_t>(update[i]))];
  }
  const gcomp::Codebook book = gcomp::make_codebook(histogram, 7, 0);
  Bytes expected(2 * sizeof(std::uint32_t) + 2 * gcomp::chunk_bytes_max(kGCompChunk));
  std::vector<std::uint32_t> begins = {8};
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    const std::span<const float> values = std::span<const float>(update).subspan(
        chunk * kGCompChunk,
        std::min<std::size_t>(kGCompChunk, update.size() - chunk * kGCompChunk));
    const auto bytes =
        static_cast<std::uint32_t>(gcomp::encode_chunk(gcomp::scalar_kernels(), &book, rule, false,
                                                       values, expected.data() + begins.back())
                                       .bytes);
    std::memcpy(expected.data() + chunk * sizeof(bytes), &bytes, sizeof(bytes));
    begins.push_back(begins.back() + bytes);
  }
  expected.resize(begins.back());

  Workspaces workspaces;
  auto space = workspaces.take();
  auto queue = Queue::make(2);
  ASSERT_TRUE(space.ok() && queue.ok());
  const CodeTable codes = code_table(book);
  const DecodeTable decode_codes = decode_table(book);
  constexpr std::uint32_t kZeros[2] = {};
  const auto n = static_cast<std::uint32_t>(update.size());
  GCompEncoding encoding = {.x = *space->upload(std::span<const float>(update)),
                            .n = n,
                            .rule = rule,
                            .coded = true,
                            .level = 1,
                            .table = *space->upload(std::span(&codes, 1))};
  encoding.body = *space->array<std::uint8_t>(expected.size() + 64);
  ASSERT_TRUE(make_arrays(*space, encoding).ok());
  GCompDecoding decoding = {.body = encoding.body,
                            .begins = *space->upload(std::span<const std::uint32_t>(begins)),
                            .table = *space->upload(std::span(&decode_codes, 1)),
                            .n = n,
                            .x = *space->array<float>(n),
                            .largest = *space->upload(std::span<const std::uint32_t>(kZeros))};
  decoding.faults = decoding.largest + 1;
  ASSERT_TRUE(make_arrays(*space, decoding).ok());
  ASSERT_TRUE(space->wait().ok());
  ASSERT_TRUE(encode_chunks(*queue, encoding).ok());
  ASSERT_TRUE(decode_chunks(*queue, decoding).ok());
  ASSERT_TRUE(queue->wait().ok());
  const auto body = downloaded(*space, encoding.body, expected.size());
  ASSERT_TRUE(std::ranges::equal(body, expected));
  ASSERT_EQ(downloaded(*space, decoding.faults, 1)[0], 0u);
  FloatVector decoded(n);
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    const ByteSpan bytes =
        ByteSpan(expected).subspan(begins[chunk], begins[chunk + 1] - begins[chunk]);
    ASSERT_EQ(gcomp::decode_chunk(gcomp::scalar_kernels(), &book, bytes, bytes.size(),
                                  std::span(decoded).subspan(
                                      chunk * kGCompChunk,
                                      std::min<std::size_t>(kGCompChunk, n - chunk * kGCompChunk))),
              nullptr);
  }
  ASSERT_EQ(codec_testing::bits_of(downloaded(*space, decoding.x, n)),
            codec_testing::bits_of(decoded));
}

// Histograms with many equal counts, with few exponents, and with all.
TEST_F(DeviceGComp, CodebooksAreTheSpecifications) {
  Workspaces workspaces;
  const StreamKey key = stream_key({.job_seed = 5, .purpose = DrawPurpose::synthetic_data});
  for (const std::uint32_t exponents : {1u, 2u, 5u, 40u, 256u}) {
    for (const unsigned bits_max : {2u, 5u, 8u}) {
      FloatVector update;
      for (std::uint32_t i = 0; i < 3000; ++i) {
        const std::uint32_t skewed =
            random_bits(key, i) % exponents * (random_bits(key, i + 5000) % 3);
        update.push_back(std::bit_cast<float>((255 - skewed % exponents) << 23));
      }
      auto space = workspaces.take();
      ASSERT_TRUE(space.ok());
      auto making = make_book_arrays(*space);
      ASSERT_TRUE(making.ok());
      const float* const x = *space->upload(std::span<const float>(update));
      ASSERT_TRUE(count_exponents(space->queue(), x, 3000, *making).ok());
      ASSERT_TRUE(make_code_table(space->queue(), bits_max, *making).ok());
      gcomp::Histogram expected = {};
      for (const float value : update) {
        ++expected[gcomp::exponent_of(std::bit_cast<std::uint32_t>(value))];
      }
      ASSERT_TRUE(
          std::ranges::equal(downloaded(*space, making->histogram, gcomp::kExponents), expected));
      const gcomp::Codebook book = gcomp::make_codebook(expected, bits_max, 0);
      Bytes bytes(gcomp::kCodebookBytes);
      gcomp::write_codebook(book, bytes);
      ASSERT_TRUE(
          std::ranges::equal(downloaded(*space, making->bytes, gcomp::kCodebookBytes), bytes));
      const CodeTable table = downloaded(*space, making->table, 1)[0];
      const CodeTable expected_table = code_table(book);
      ASSERT_TRUE(std::ranges::equal(table.entries, expected_table.entries));
      ASSERT_EQ(table.padding, expected_table.padding);
    }
  }
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
