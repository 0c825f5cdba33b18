#include "bench/cuda/host_path.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

#include "core/base/thread_pool.h"
#include "core/codec/cuda/gpu/errors.h"
#include "core/codec/device/device_vector.h"
#include "core/codec/error_feedback.h"
#include "core/codec/registry.h"

namespace tributary::bench {
namespace {

using cuda::DeviceArray;
using cuda::Queue;
using cuda::status_of;

constexpr std::size_t kBucketValues = 1u << 20;
constexpr unsigned kTimes = 5;

// The median of several calls; the first one is not counted.
Result<double> median_s(const std::function<Status()>& run) {
  std::vector<double> seconds;
  for (unsigned i = 0; i <= kTimes; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    TRIBUTARY_TRY(run());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) seconds.push_back(took.count());
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

// Pinned memory for the update, and for its payload.
class Pinned {
 public:
  static Result<std::unique_ptr<Pinned>> make(std::size_t bytes) {
    auto pinned = std::make_unique<Pinned>();
    TRIBUTARY_ASSIGN(const cuda::Gpu* const gpu, cuda::use_gpu());
    TRIBUTARY_TRY(
        status_of(gpu->driver.allocate_pinned(&pinned->memory_, bytes, 0), "pinned host memory"));
    return pinned;
  }
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() {
    const cuda::Gpu* const gpu = cuda::gpu_in_use();
    if (gpu != nullptr && memory_ != nullptr) static_cast<void>(gpu->driver.free_pinned(memory_));
  }
  void* data() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

// One agent's encoder of one bucket. The combined payloads of the earlier stages, which a
// coordinator sends, are those of its own payloads and made once.
class BucketEncoder {
 public:
  static Result<BucketEncoder> make(const Codec& codec, std::uint32_t bucket,
                                    std::span<const float> values) {
    const auto count = static_cast<std::uint32_t>(values.size());
    BucketEncoder made(codec.make_encoder(count), bucket);
    for (std::size_t stage = 0; stage < codec.stages().size(); ++stage) {
      const StageCall call = made.call(stage, {});
      Bytes payload;
      TRIBUTARY_TRY(made.encoder_->encode(call, values, payload));
      const auto aggregator = codec.make_aggregator(stage, count);
      TRIBUTARY_TRY(aggregator->begin(call, {}));
      if (!payload.empty()) TRIBUTARY_TRY(aggregator->add(call, payload));
      Bytes combined;
      TRIBUTARY_TRY(aggregator->finish(call, combined));
      made.combined_.push_back(std::move(combined));
    }
    made.encoder_->settle({}, false);
    return made;
  }

  // All stages. Counts the payloads' bytes. Values on the device must not be asked for.
  Status encode(const Execution& execution, std::span<const float> values) {
    bytes_ = 0;
    facts_ = {};
    for (std::size_t stage = 0; stage < combined_.size(); ++stage) {
      TRIBUTARY_TRY(encoder_->encode(call(stage, execution), values, payload_));
      bytes_ += payload_.size();
    }
    encoder_->settle({}, false);
    return {};
  }
  // The values of the last payload.
  Status decode(const Codec& codec, const Execution& execution, std::span<float> values) {
    return codec.decode(call(combined_.size() - 1, execution), payload_, values);
  }
  std::uint64_t bytes() const { return bytes_; }
  bool on_device() const { return !facts_.buckets_on_device.empty(); }

 private:
  BucketEncoder(std::unique_ptr<Encoder> encoder, std::uint32_t bucket)
      : encoder_(std::move(encoder)), bucket_(bucket) {}

  StageCall call(std::size_t stage, const Execution& execution) {
    spans_.assign(combined_.begin(), combined_.begin() + static_cast<std::ptrdiff_t>(stage));
    return {.round = {.job_seed = 3, .bucket = bucket_},
            .execution = execution,
            .combined = spans_,
            .facts = &facts_};
  }

  std::unique_ptr<Encoder> encoder_;
  std::uint32_t bucket_;
  std::vector<Bytes> combined_;
  std::vector<ByteSpan> spans_;
  Bytes payload_;
  std::uint64_t bytes_ = 0;
  EncodingFacts facts_;
};

// The buckets of an update that lies on the device and in host memory.
class Paths {
 public:
  Paths(const Codec& codec, const FloatVector& update, Queue queue, DeviceArray<float> on_device,
        std::unique_ptr<Pinned> pinned)
      : codec_(codec),
        update_(update),
        queue_(std::move(queue)),
        on_device_(std::move(on_device)),
        pinned_(std::move(pinned)) {}
  Paths(const Paths&) = delete;
  Paths& operator=(const Paths&) = delete;
  ~Paths() {
    const cuda::Gpu* const gpu = cuda::gpu_in_use();
    for (CUevent_st* const event : copied_) static_cast<void>(gpu->driver.destroy_event(event));
  }

  Status prepare() {
    TRIBUTARY_ASSIGN(const cuda::Gpu* const gpu, cuda::use_gpu());
    for (std::size_t at = 0; at < update_.size(); at += kBucketValues) {
      const auto bucket = static_cast<std::uint32_t>(encoders_.size());
      TRIBUTARY_ASSIGN(BucketEncoder encoder, BucketEncoder::make(codec_, bucket, part(bucket)));
      encoders_.push_back(std::move(encoder));
      CUevent_st* event = nullptr;
      TRIBUTARY_TRY(
          status_of(gpu->driver.make_event(&event, cuda::kEventDisableTiming), "an event"));
      copied_.push_back(event);
    }
    return {};
  }

  // The GPU's path. Codecs whose payloads' sizes follow from the data need the size on the host
  // before they can copy the payload, so a word is read first for all.
  Status by_device(const Start& encode, std::uint64_t payload_bytes) {
    TRIBUTARY_TRY(encode(queue_));
    TRIBUTARY_TRY(cuda::copy_to_host(queue_, on_device_.data(), 4, pinned_->data()));
    TRIBUTARY_TRY(queue_.wait());
    const std::uint64_t bytes = std::min<std::uint64_t>(payload_bytes, update_.size() * 4);
    TRIBUTARY_TRY(cuda::copy_to_host(queue_, on_device_.data(), bytes, pinned_->data()));
    return queue_.wait();
  }

  // The host's path: all copies are started, and each bucket is encoded as soon as it is there.
  Status by_host(ThreadPool& pool, bool bucket_each) {
    TRIBUTARY_ASSIGN(const cuda::Gpu* const gpu, cuda::use_gpu());
    auto* const to = static_cast<float*>(pinned_->data());
    for (std::uint32_t i = 0; i < encoders_.size(); ++i) {
      const std::size_t at = i * kBucketValues;
      TRIBUTARY_TRY(
          cuda::copy_to_host(queue_, on_device_.data() + at, part(i).size_bytes(), to + at));
      TRIBUTARY_TRY(status_of(gpu->driver.record_event(copied_[i], queue_.stream()), "an event"));
    }
    const auto encode = [&](std::size_t i, const Execution& execution) {
      TRIBUTARY_ASSIGN(const cuda::Gpu* const used, cuda::use_gpu());  // of this thread
      TRIBUTARY_TRY(status_of(used->driver.wait_for_event(copied_[i]), "a copy to the host"));
      return encoders_[i].encode(execution, {to + i * kBucketValues, part(i).size()});
    };
    if (!bucket_each) {
      for (std::size_t i = 0; i < encoders_.size(); ++i) {
        TRIBUTARY_TRY(encode(i, {.pool = &pool}));
      }
      return queue_.wait();
    }
    std::vector<Status> statuses(encoders_.size());
    pool.parallel_for(encoders_.size(), [&](std::size_t i) { statuses[i] = encode(i, {}); });
    for (const Status& status : statuses) TRIBUTARY_TRY(status);
    return queue_.wait();
  }

  // As a job does it: bucket after bucket, from and to host memory.
  Status in_a_job(const Execution& execution) {
    for (std::uint32_t i = 0; i < encoders_.size(); ++i) {
      TRIBUTARY_TRY(encoders_[i].encode(execution, part(i)));
    }
    return {};
  }

  // An update of a trainer on the GPU, copied to the host before anything else, with the residual
  // that each bucket leaves.
  Status through_the_host(const Execution& execution, CodecDevice& gpu) {
    TRIBUTARY_TRY(gpu.vectors()->read({on_device_.data(), update_.size()}, copy_));
    decoded_.resize(kBucketValues);
    for (std::uint32_t i = 0; i < encoders_.size(); ++i) {
      const std::size_t at = i * kBucketValues;
      const auto values = std::span<const float>(copy_).subspan(at, part(i).size());
      const auto decoded = std::span(decoded_).first(values.size());
      TRIBUTARY_TRY(encoders_[i].encode(execution, values));
      TRIBUTARY_TRY(encoders_[i].decode(codec_, execution, decoded));
      keep_residual(execution, values, decoded, std::span(left_).subspan(at, values.size()));
    }
    return {};
  }
  // The same with values that stay on the GPU.
  Status on_the_device(const Execution& execution) {
    DeviceVectors& vectors = *execution.device->vectors();
    TRIBUTARY_ASSIGN(const auto update, vectors.copy_of({on_device_.data(), update_.size()}));
    TRIBUTARY_ASSIGN(const auto decoded, vectors.make(kBucketValues));
    for (std::uint32_t i = 0; i < encoders_.size(); ++i) {
      const std::size_t at = i * kBucketValues;
      const std::size_t count = part(i).size();
      TRIBUTARY_TRY(encoders_[i].encode(execution, update->stand_in().subspan(at, count)));
      TRIBUTARY_TRY(encoders_[i].decode(codec_, execution, decoded->stand_in().first(count)));
      TRIBUTARY_TRY(update->keep_residual(at, *decoded, std::span(left_).subspan(at, count)));
    }
    return {};
  }

  std::uint64_t payload_bytes() const {
    std::uint64_t bytes = 0;
    for (const BucketEncoder& encoder : encoders_) bytes += encoder.bytes();
    return bytes;
  }
  std::uint64_t buckets() const { return encoders_.size(); }
  std::uint64_t buckets_on_device() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(encoders_, &BucketEncoder::on_device));
  }

 private:
  std::span<const float> part(std::size_t bucket) const {
    const std::size_t at = bucket * kBucketValues;
    return std::span<const float>(update_).subspan(at,
                                                   std::min(kBucketValues, update_.size() - at));
  }

  const Codec& codec_;
  const FloatVector& update_;
  Queue queue_;
  DeviceArray<float> on_device_;
  std::unique_ptr<Pinned> pinned_;
  std::vector<BucketEncoder> encoders_;
  std::vector<CUevent_st*> copied_;
  FloatVector copy_ = FloatVector(update_.size());
  FloatVector left_ = FloatVector(update_.size());
  FloatVector decoded_;
};

}  // namespace

Result<PathTimes> time_paths(const std::string& spec, const FloatVector& update,
                             const Start& encode, CodecDevice& gpu) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, make_codec(spec));
  TRIBUTARY_ASSIGN(Queue queue, Queue::make());
  TRIBUTARY_ASSIGN(auto on_device, DeviceArray<float>::copy_of(queue, update));
  TRIBUTARY_ASSIGN(auto pinned, Pinned::make(update.size() * sizeof(float)));
  Paths paths(*codec, update, std::move(queue), std::move(on_device), std::move(pinned));
  TRIBUTARY_TRY(paths.prepare());
  ThreadPool pool(hardware_threads());
  PathTimes times;
  TRIBUTARY_ASSIGN(const double all_for_one, median_s([&] { return paths.by_host(pool, false); }));
  TRIBUTARY_ASSIGN(const double bucket_each, median_s([&] { return paths.by_host(pool, true); }));
  times.bucket_each = bucket_each < all_for_one;
  times.host_s = std::min(bucket_each, all_for_one);
  times.payload_bytes = paths.payload_bytes();
  times.buckets = paths.buckets();
  TRIBUTARY_ASSIGN(times.device_s,
                   median_s([&] { return paths.by_device(encode, times.payload_bytes); }));
  TRIBUTARY_ASSIGN(times.job_host_s, median_s([&] { return paths.in_a_job({.pool = &pool}); }));
  TRIBUTARY_ASSIGN(times.job_device_s,
                   median_s([&] { return paths.in_a_job({.pool = &pool, .device = &gpu}); }));
  times.buckets_on_device = paths.buckets_on_device();
  if (!encodes_from_device(*codec)) return times;
  const Execution with_gpu = {.pool = &pool, .device = &gpu};
  TRIBUTARY_ASSIGN(times.update_on_device_s,
                   median_s([&] { return paths.on_the_device(with_gpu); }));
  TRIBUTARY_ASSIGN(times.update_copied_s,
                   median_s([&] { return paths.through_the_host(with_gpu, gpu); }));
  TRIBUTARY_ASSIGN(times.update_on_host_s,
                   median_s([&] { return paths.through_the_host({.pool = &pool}, gpu); }));
  return times;
}

Result<double> time_small_bucket(const std::string& spec, const FloatVector& update,
                                 CodecDevice& gpu) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<Codec> codec, make_codec(spec));
  TRIBUTARY_ASSIGN(BucketEncoder encoder, BucketEncoder::make(*codec, 0, update));
  TRIBUTARY_ASSIGN(const double all, median_s([&] {
                     for (unsigned i = 0; i < kRepeats; ++i) {
                       TRIBUTARY_TRY(encoder.encode({.device = &gpu}, update));
                     }
                     return Status();
                   }));
  return all / kRepeats;
}

}  // namespace tributary::bench
