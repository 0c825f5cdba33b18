// Codecs that encode, add and decode on a device give the bytes of the scalar specification in
// whole exchanges. The emulated device also shows that they use the host where the device fails.
#include "core/codec/cuda/codec_device.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/codec/codec_testing.h"
#ifndef TRIBUTARY_CUDA
#include "core/codec/cuda/emulated/emulated_testing.h"
#endif

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::Pattern;
using codec_testing::play;

class CodecsOnDevice : public testing::TestWithParam<std::string> {
 protected:
  CodecsOnDevice() {
    device_->report_errors_to([this](const Status& error) { errors_.push_back(error); });
  }
#ifdef TRIBUTARY_CUDA
  void SetUp() override {
    const Status there = device_available();
    if (!there.ok()) GTEST_SKIP() << there.text();
  }
#else
  ~CodecsOnDevice() override {
    set_memory_limit(std::numeric_limits<std::size_t>::max());
    set_device_lost(false);
    for (const Operation operation : kOperations) fail_operation(operation, 0);
    keep_memory(false);
  }

  static constexpr Operation kOperations[] = {Operation::allocation, Operation::launch,
                                              Operation::wait};
#endif

  Execution on_device() const { return {.backend = Backend::scalar, .device = device_.get()}; }

  // Encodes the first stage, and returns whether the facts name the device.
  bool encodes_on_device(const FloatVector& values, Status* status = nullptr) const {
    EncodingFacts facts;
    Bytes payload;
    const auto encoder = codec_->make_encoder(static_cast<std::uint32_t>(values.size()));
    const Status encoded = encoder->encode(
        {.round = {.bucket = 5}, .execution = on_device(), .facts = &facts}, values, payload);
    if (status != nullptr) *status = encoded;
    return facts.buckets_on_device.contains(5);
  }

  const std::unique_ptr<Codec> codec_ = codec_testing::codec_of(GetParam());
  std::vector<Status> errors_;
  const std::unique_ptr<CodecDevice> device_ = make_codec_device();
};

TEST_P(CodecsOnDevice, GiveTheSameBytes) {
  for (const Pattern pattern : codec_testing::kPatterns) {
    for (const std::size_t values : {0u, 1u, 31u, 33u, 67u, 4099u}) {
      const auto all = codec_testing::updates(pattern, values, 3);
      const auto expected = play(*codec_, all, 2, {.backend = Backend::scalar});
      const auto got = play(*codec_, all, 2, on_device());
      ASSERT_EQ(got, expected) << values << " values, pattern " << static_cast<int>(pattern);
    }
  }
  EXPECT_TRUE(errors_.empty()) << errors_[0].text();
  EXPECT_TRUE(encodes_on_device(codec_testing::update(Pattern::normal, 100, 0)));
}

#ifndef TRIBUTARY_CUDA
TEST_P(CodecsOnDevice, UseTheHostIfItsMemoryIsFull) {
  const auto all = codec_testing::updates(Pattern::normal, 3000, 2);
  const auto expected = play(*codec_, all, 2, {.backend = Backend::scalar});
  for (const std::size_t limit : {0u, 6'000u, 12'000u, 16'000u}) {
    errors_.clear();
    set_memory_limit(limit);
    EXPECT_EQ(play(*codec_, all, 2, on_device()), expected) << limit;
    if (limit > 12'000) continue;  // some calls need little more than the bucket
    ASSERT_FALSE(errors_.empty()) << limit;
    EXPECT_EQ(errors_[0].code(), StatusCode::resource_exhausted) << errors_[0].text();
  }
  set_memory_limit(0);
  EXPECT_FALSE(encodes_on_device(all[0]));
}

// One message, and no further call: the device has not come back if it works again.
TEST_P(CodecsOnDevice, UseTheHostFromTheLossOfTheDeviceOn) {
  const auto all = codec_testing::updates(Pattern::normal, 3000, 2);
  const auto expected = play(*codec_, all, 2, {.backend = Backend::scalar});
  EXPECT_TRUE(encodes_on_device(all[0]));
  set_device_lost(true);
  EXPECT_EQ(play(*codec_, all, 2, on_device()), expected);
  set_device_lost(false);
  EXPECT_EQ(play(*codec_, all, 2, on_device()), expected);
  EXPECT_FALSE(encodes_on_device(all[0]));
  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_EQ(errors_[0].code(), StatusCode::io_error);
  EXPECT_NE(errors_[0].text().find("the device is not used again"), std::string::npos)
      << errors_[0].text();
}

// Each allocation, each start of a kernel and each wait of an exchange fails once.
TEST_P(CodecsOnDevice, UseTheHostForTheCallWhoseOperationFails) {
  const auto all = codec_testing::updates(Pattern::normal, 300, 2);
  const auto expected = play(*codec_, all, 1, {.backend = Backend::scalar});
  for (const Operation operation : kOperations) {
    const std::uint64_t before = operations(operation);
    play(*codec_, all, 1, on_device());
    const std::uint64_t all_operations = operations(operation) - before;
    ASSERT_GT(all_operations, 0u);
    for (std::uint64_t n = 1; n <= all_operations; ++n) {
      // A lost device is not used again.
      const auto device = make_codec_device();
      std::vector<Status> errors;
      device->report_errors_to([&errors](const Status& error) { errors.push_back(error); });
      fail_operation(operation, n);
      const auto got = play(*codec_, all, 1, {.backend = Backend::scalar, .device = device.get()});
      ASSERT_EQ(got, expected) << "operation " << static_cast<int>(operation) << ", " << n;
      ASSERT_EQ(errors.size(), 1u) << "operation " << static_cast<int>(operation) << ", " << n;
      const bool memory = operation == Operation::allocation;
      EXPECT_EQ(errors[0].code(), memory ? StatusCode::resource_exhausted : StatusCode::io_error);
      EXPECT_NE(device->lost(), memory);
    }
  }
}

// With workspaces that keep their memory, as those of a GPU do.
TEST_P(CodecsOnDevice, AllocateNothingAfterTheFirstRound) {
  const auto all = codec_testing::updates(Pattern::normal, 4099, 2);
  const auto expected = play(*codec_, all, 3, {.backend = Backend::scalar});
  keep_memory(true);
  play(*codec_, all, 1, on_device());
  const std::uint64_t before = operations(Operation::allocation);
  EXPECT_GT(before, 0u);
  EXPECT_EQ(play(*codec_, all, 3, on_device()), expected);
  EXPECT_EQ(operations(Operation::allocation), before);
  EXPECT_TRUE(errors_.empty()) << errors_[0].text();
}
#endif

// Few values, but several tiles of every kernel: compute-sanitizer's racecheck runs this test.
TEST_P(CodecsOnDevice, GiveTheSameBytesOfAFewTiles) {
  const std::size_t values = GetParam().starts_with("gcomp") ? 66'000 : 9'001;
  const auto all = codec_testing::updates(Pattern::lognormal, values, 2);
  const auto expected = play(*codec_, all, 2, {.backend = Backend::scalar});
  EXPECT_EQ(play(*codec_, all, 2, on_device()), expected);
  EXPECT_TRUE(errors_.empty()) << errors_[0].text();
}

TEST_P(CodecsOnDevice, RefuseNotFiniteValuesUnlessTheyCarryThem) {
  FloatVector update = codec_testing::update(Pattern::normal, 500, 0);
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    update[333] = bad;
    Status status;
    encodes_on_device(update, &status);
    if (codec_->carries_not_finite()) {
      EXPECT_TRUE(status.ok()) << status.text();
      continue;
    }
    EXPECT_EQ(status.code(), StatusCode::not_finite);
    EXPECT_NE(status.text().find("333"), std::string::npos) << status.text();
  }
}

INSTANTIATE_TEST_SUITE_P(FixedWidth, CodecsOnDevice,
                         testing::Values("fp16", "bf16", "int8", "int8:block=64,rounding=random",
                                         "int8_shared", "int8_shared:block=256,rounding=random"),
                         codec_testing::test_name);

INSTANTIATE_TEST_SUITE_P(Sparse, CodecsOnDevice,
                         testing::Values("topk", "mstopk:bisections=9", "dgc", "threshold", "randk",
                                         "star_topk", "var_topk"),
                         codec_testing::test_name);

INSTANTIATE_TEST_SUITE_P(GComp, CodecsOnDevice, testing::Values("gcomp", "gcomp:truncation=none"),
                         codec_testing::test_name);

INSTANTIATE_TEST_SUITE_P(Thc, CodecsOnDevice,
                         testing::Values("thc:granularity=63,p=0.001",
                                         "thc:bits=6,granularity=90,p=0.01,block=64,range=minmax"),
                         codec_testing::test_name);

INSTANTIATE_TEST_SUITE_P(Ternary, CodecsOnDevice,
                         testing::Values("threelc:bypass=64", "threelc:s=1.75,block=256", "stoch3",
                                         "terngrad"),
                         codec_testing::test_name);

INSTANTIATE_TEST_SUITE_P(PackedLevels, CodecsOnDevice,
                         testing::Values("qsgd", "qsgd:bits=3,block=64,norm=max"),
                         codec_testing::test_name);

INSTANTIATE_TEST_SUITE_P(Signs, CodecsOnDevice,
                         testing::Values("signsgd", "ef_signsgd", "onebit:block=256"),
                         codec_testing::test_name);

INSTANTIATE_TEST_SUITE_P(Lowrank, CodecsOnDevice, testing::Values("powersgd:rank=2", "powersgd"),
                         codec_testing::test_name);

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
