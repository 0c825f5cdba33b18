// Benchmark: the GPU's loops compared with a copy on the device. Memory bandwidth limits both, so
// the expected ratio is that of the bytes read and written.
#include <memory>

#include "bench/harness/harness.h"
#include "bench/harness/peers.h"
#include "core/codec/cuda/quantize/quantize.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/kernels.h"

namespace tributary::cuda {
namespace {

using bench::Case;

constexpr std::uint64_t kCopies = 16;  // copies of the bucket, too many for any cache
constexpr LevelFormat kFormat = {};

// The data of all cases, which stays on the device.
struct Arrays {
  std::uint32_t n;
  Queue queue;
  FloatVector update;
  DeviceArray<float> x;
  DeviceArray<float> back;
  DeviceArray<std::uint16_t> words;
  DeviceArray<std::int8_t> levels;
  DeviceArray<float> scales;
  DeviceArray<std::uint32_t> largest;
  Status status = {};

  void note(Status result) {
    if (result.ok()) result = queue.wait();
    if (status.ok()) status = std::move(result);
  }
};

Result<std::shared_ptr<Arrays>> make_arrays(const bench::Settings& settings) {
  TRIBUTARY_TRY(device_available());
  const bench::SharedUpdate bucket = bench::normal_update(settings.bucket_bytes);
  FloatVector update;
  for (std::uint64_t i = 0; i < kCopies; ++i) {
    update.insert(update.end(), bucket->begin(), bucket->end());
  }
  const auto n = static_cast<std::uint32_t>(update.size());
  TRIBUTARY_ASSIGN(Queue queue, Queue::make());
  TRIBUTARY_ASSIGN(auto x, DeviceArray<float>::copy_of(queue, update));
  TRIBUTARY_ASSIGN(auto back, DeviceArray<float>::make(n));
  TRIBUTARY_ASSIGN(auto words, DeviceArray<std::uint16_t>::make(n));
  TRIBUTARY_ASSIGN(auto levels, DeviceArray<std::int8_t>::make(n));
  TRIBUTARY_ASSIGN(auto scales, DeviceArray<float>::make(n / kFormat.block + 1));
  TRIBUTARY_ASSIGN(auto largest,
                   DeviceArray<std::uint32_t>::copy_of(queue, RawVector<std::uint32_t>(1, 0)));
  return std::make_shared<Arrays>(Arrays{n, std::move(queue), std::move(update), std::move(x),
                                         std::move(back), std::move(words), std::move(levels),
                                         std::move(scales), std::move(largest)});
}

Status same_bits(bool same, const char* what) {
  return same ? Status()
              : Status(StatusCode::mismatch, {.what = what, .expected = "the specification's"});
}

Status check_halves(Arrays& a) {
  RawVector<std::uint16_t> expected(a.n);
  RawVector<std::uint16_t> got(a.n);
  quantize::scalar_kernels().to_half(a.update.data(), a.n, expected.data());
  TRIBUTARY_TRY(a.words.read(a.queue, got));
  return same_bits(expected == got, "halves");
}

struct Levels {
  RawVector<std::int8_t> levels;
  FloatVector decoded;
};

Levels specified_levels(const Arrays& a) {
  Levels out;
  out.levels.resize(a.n);
  out.decoded.resize(a.n);
  const auto& spec = quantize::scalar_kernels();
  for (std::uint32_t at = 0; at < a.n; at += kFormat.block) {
    const std::uint32_t count = std::min(kFormat.block, a.n - at);
    const float* const x = a.update.data() + at;
    const auto largest = std::bit_cast<float>(spec.largest_magnitude(x, count));
    const quantize::BlockScale scale = quantize::block_scale(largest);
    spec.to_nearest_levels(x, count, scale.levels_per_unit, out.levels.data() + at);
    spec.from_levels8(out.levels.data() + at, count, scale.step, out.decoded.data() + at);
  }
  return out;
}

Status check_levels(Arrays& a) {
  RawVector<std::int8_t> got(a.n);
  TRIBUTARY_TRY(a.levels.read(a.queue, got));
  return same_bits(specified_levels(a).levels == got, "levels");
}

// The decoders leave their values in `back`.
Status check_back(Arrays& a, const FloatVector& expected, const char* what) {
  FloatVector got(a.n);
  TRIBUTARY_TRY(a.back.read(a.queue, got));
  return same_bits(std::ranges::equal(expected, got), what);
}

Status check_decoded_halves(Arrays& a) {
  FloatVector expected(a.n);
  for (std::uint32_t i = 0; i < a.n; ++i) {
    expected[i] = quantize::float_of_half(quantize::half_of(a.update[i]));
  }
  return check_back(a, expected, "decoded halves");
}

std::vector<Case> cuda_cases(const bench::Settings& settings) {
  const auto arrays = make_arrays(settings);
  if (!arrays.ok()) {
    return {{.name = "GPU", .run = [] {}, .check = [status = arrays.status()] { return status; }}};
  }
  const std::shared_ptr<Arrays>& a = *arrays;
  const double bytes = static_cast<double>(a->n) * sizeof(float);
  const auto timed = [&](const char* name, std::function<void()> run,
                         std::function<Status()> check) {
    return Case{
        .name = name,
        .bytes = bytes,
        .run = std::move(run),
        .check = [a, check = std::move(check)] { return a->status.ok() ? check() : a->status; },
        .goals = {{.peer = "copy on the device"}}};
  };
  return {
      timed(
          "copy on the device",
          [a] {
            a->note(copy_on_device(a->queue, a->x.data(), a->n * sizeof(float), a->back.data()));
          },
          [a] { return check_back(*a, a->update, "copy"); }),
      timed(
          "fp16 encode",
          [a] {
            a->note(to_half(a->queue, a->x.data(), a->n, a->words.data(), a->largest.data()));
          },
          [a] { return check_halves(*a); }),
      timed(
          "fp16 decode",
          [a] {
            a->note(from_half(a->queue, a->words.data(), a->n, a->back.data(), a->largest.data()));
          },
          [a] { return check_decoded_halves(*a); }),
      timed(
          "int8 encode",
          [a] {
            a->note(to_scales_and_levels(a->queue, a->x.data(), a->n, kFormat, a->scales.data(),
                                         a->levels.data()));
          },
          [a] { return check_levels(*a); }),
      timed(
          "int8 decode",
          [a] {
            a->note(from_levels8(a->queue, a->levels.data(), a->n, kFormat, a->scales.data(),
                                 a->back.data()));
          },
          [a] { return check_back(*a, specified_levels(*a).decoded, "decoded levels"); }),
  };
}

const bench::Registration kCuda({.name = "codec.cuda",
                                 .about = "loops on the GPU, 16 buckets at once",
                                 .build = cuda_cases});

}  // namespace
}  // namespace tributary::cuda
