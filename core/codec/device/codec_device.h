// A device that runs codecs' loops over whole buckets: an emulated GPU (core/codec/cuda), later a
// real one. Its bytes are those of the scalar specification.
//
// A codec with loops for a device asks the device of its call first. If a device cannot do the
// work, for example because its memory is full, the codec does it on the host in the same call, so
// no update is lost. Spans and pointers are to host memory. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/random.h"
#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary {

enum class SixteenBitFormat : std::uint8_t { half, bfloat };

// How the values of a bucket are quantized to 8 bits: blocks that share a scale, with nearest or
// random rounding.
struct LevelFormat {
  std::uint32_t block = 4096;  // a power of two, 64 or more
  bool random_rounding = false;
  StreamKey key = {};
};

class CodecDevice {
 public:
  virtual ~CodecDevice() = default;

  // The name in the facts of a round and in the setting codec.device.
  virtual std::string_view name() const = 0;

  // The loops of core/codec/quantize. Encoders to 16 bits return the bits of the largest magnitude
  // of the values, decoders the largest magnitude of the words.
  virtual Result<std::uint32_t> encode_words(SixteenBitFormat format, std::span<const float> values,
                                             std::uint16_t* words) = 0;
  virtual Result<std::uint32_t> decode_words(SixteenBitFormat format,
                                             std::span<const std::uint16_t> words,
                                             float* values) = 0;
  virtual Status find_scales(const LevelFormat& format, std::span<const float> values,
                             float* scales) = 0;
  virtual Status encode_levels(const LevelFormat& format, std::span<const float> values,
                               const float* scales, std::int8_t* levels) = 0;
  virtual Status encode_scales_and_levels(const LevelFormat& format, std::span<const float> values,
                                          float* scales, std::int8_t* levels) = 0;
  virtual Status decode_levels8(const LevelFormat& format, std::span<const std::int8_t> levels,
                                const float* scales, float* values) = 0;
  virtual Status decode_levels16(const LevelFormat& format, std::span<const std::int16_t> levels,
                                 const float* scales, float* values) = 0;
  virtual Status decode_levels32(const LevelFormat& format, std::span<const std::int32_t> levels,
                                 const float* scales, float* values) = 0;

  // `handler` receives the error of every call that a codec repeats on the host, from any thread.
  // Set it before the first call.
  void report_errors_to(std::function<void(const Status&)> handler) {
    handler_ = std::move(handler);
  }
  void report(const Status& error) const {
    if (handler_) handler_(error);
  }

 private:
  std::function<void(const Status&)> handler_;
};

// Calls work(device), which returns a Status, if the call has a device. Returns false if the host
// must do the work.
template <typename Work>
bool done_on_device(const StageCall& call, const Work& work) {
  CodecDevice* const device = call.execution.device;
  if (device == nullptr) return false;
  const Status status = work(*device);
  if (!status.ok()) device->report(status);
  return status.ok();
}

// The same for the work of an encoder, which the facts of a round count.
template <typename Work>
bool encoded_on_device(const StageCall& call, const Work& work) {
  const bool done = done_on_device(call, work);
  if (call.facts != nullptr) {
    if (done) {
      call.facts->buckets_on_device.insert(call.round.bucket);
    } else {
      call.facts->buckets_on_device.erase(call.round.bucket);
    }
  }
  return done;
}

}  // namespace tributary
