#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/codec/chunks.h"
#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/payload.h"
#include "core/codec/threelc/elements.h"
#include "core/codec/threelc/ternary.h"

namespace tributary::threelc {
namespace {

// The statistics of a chunk, which are combined before M of its part is known.
struct Survey {
  std::uint32_t largest = 0;  // magnitude, as bits
  double squares = 0;

  void add(const Survey& other) {
    largest = std::max(largest, other.largest);
    squares += other.squares;
  }
};

class TernaryEncoder final : public Encoder {
 public:
  TernaryEncoder(const Codec& codec, const TernaryOptions& options)
      : codec_(codec), options_(options) {}

  Status encode(const StageCall& call, std::span<const float> values, Bytes& payload) override {
    TRIBUTARY_ASSIGN(const Layout layout,
                     Layout::make(call.round, values.size(), options_.layout()));
    const MutableByteSpan body =
        start_payload({.spec = codec_.spec(),
                       .contributors = call.contributors,
                       .values = static_cast<std::uint32_t>(values.size())},
                      layout.chunks_at() + layout.packed_bytes, payload);
    DeviceLoops::Encoded encoded;
    const bool done = encoded_on_device(call, &CodecDevice::threelc, [&](DeviceLoops& device) {
      Result<DeviceLoops::Encoded> result =
          device.encode(options_, layout, draws(call), values, body);
      if (result.ok()) encoded = *result;
      return result.status();
    });
    if (!done) encoded = encode_on_host(call, layout, values, body);
    if (!encoded.finite) return not_finite_error(call, values);
    shrink_body(encoded.bytes, payload);
    seal_payload(call.execution, payload);
    return {};
  }

 private:
  DeviceLoops::Encoded encode_on_host(const StageCall& call, const Layout& layout,
                                      std::span<const float> values, MutableByteSpan body) {
    if (!write_plain(call.execution, layout, values, body) ||
        !write_units(call.execution, layout, values, body)) {
      return {};
    }
    return {.finite = true, .bytes = layout.chunks_at() + write_chunks(call, layout, values, body)};
  }

  // The stream of random digits; unused if they are rounded.
  StreamKey draws(const StageCall& call) const {
    if (!options_.random_digits) return {};
    return stream_key({.job_seed = call.round.job_seed,
                       .round = call.round.round,
                       .bucket = call.round.bucket,
                       .purpose = DrawPurpose::rounding,
                       .agent = call.round.agent});
  }

  // Both functions return false if a value is not finite.
  static bool write_plain(const Execution& execution, const Layout& layout,
                          std::span<const float> values, MutableByteSpan body) {
    std::uint8_t* out = body.data();
    for (const Part& part : layout.plain) {
      const float* const x = values.data() + part.offset;
      if (kernels(execution.backend).largest_magnitude(x, part.count) >= kInfinityBits) {
        return false;
      }
      std::memcpy(out, x, part.count * sizeof(float));
      out += part.count * sizeof(float);
    }
    return true;
  }

  bool write_units(const Execution& execution, const Layout& layout, std::span<const float> values,
                   MutableByteSpan body) {
    std::vector<Survey> of_chunks(layout.chunks.size());
    for_each_chunk(execution, layout.chunks.size(), 1,
                   [&](std::size_t i, std::size_t, std::size_t) {
                     of_chunks[i] = survey(execution, layout, layout.chunks[i], values);
                   });
    std::vector<Survey> of_parts(layout.packed.size());
    for (std::size_t i = 0; i < of_chunks.size(); ++i) {
      of_parts[layout.chunks[i].part].add(of_chunks[i]);
    }
    units_.resize(of_parts.size());
    for (std::size_t i = 0; i < of_parts.size(); ++i) {
      if (of_parts[i].largest >= kInfinityBits) return false;
      units_[i] = unit_of_part(of_parts[i], layout.packed[i].count);
    }
    const ByteSpan bytes = bytes_of(std::span<const float>(units_));
    std::ranges::copy(bytes, body.begin() + static_cast<std::ptrdiff_t>(layout.units_at()));
    return true;
  }

  // Measures as many values as the chunk has digits. They are not the values of the chunk's own
  // digits, but all chunks of a part together cover the part, which is enough.
  Survey survey(const Execution& execution, const Layout& layout, const Chunk& chunk,
                std::span<const float> values) const {
    const Part& part = layout.packed[chunk.part];
    const std::size_t digits = options_.layout().digits_per_byte;
    const std::size_t begin = chunk.range.begin * digits;
    const std::size_t end = std::min(part.count, chunk.range.end * digits);
    const auto x = values.subspan(part.offset + begin, end - begin);
    const Kernels& loops = kernels(execution.backend);
    return {.largest = loops.largest_magnitude(x.data(), x.size()),
            .squares = options_.clip > 0 ? loops.sum_of_squares(x.data(), x.size()) : 0};
  }

  float unit_of_part(const Survey& survey, std::size_t count) const {
    const float unit = unit_of(std::bit_cast<float>(survey.largest), options_.sparsity);
    if (options_.clip == 0) return unit;
    return clipped_unit(unit, survey.squares, count, options_.sparsity, options_.clip);
  }

  // Returns the total size of all chunks in bytes.
  std::size_t write_chunks(const StageCall& call, const Layout& layout,
                           std::span<const float> values, MutableByteSpan body) {
    std::uint8_t* const out = body.data() + layout.chunks_at();
    lengths_.resize(layout.chunks.size());
    for_each_chunk(call.execution, layout.chunks.size(), 1,
                   [&](std::size_t i, std::size_t, std::size_t) {
                     const Chunk& chunk = layout.chunks[i];
                     lengths_[i] = write_chunk(call, layout, chunk, values, out + chunk.offset);
                   });
    if (!options_.zero_run) return layout.packed_bytes;

    std::size_t end = 0;  // each chunk was written at its offset without zero-run encoding
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      std::memmove(out + end, out + layout.chunks[i].offset, lengths_[i]);
      end += lengths_[i];
    }
    const ByteSpan bytes = bytes_of(std::span<const std::uint16_t>(lengths_));
    std::ranges::copy(bytes, body.begin() + static_cast<std::ptrdiff_t>(layout.lengths_at()));
    return end;
  }

  std::uint16_t write_chunk(const StageCall& call, const Layout& layout, const Chunk& chunk,
                            std::span<const float> values, std::uint8_t* out) const {
    if (!options_.zero_run) {
      pack(call, layout, chunk, values, out);
      return static_cast<std::uint16_t>(chunk.bytes());
    }
    // 57 kB on the stack, so that a chunk's packed bytes stay in the cache until they are coded.
    std::array<std::uint8_t, kChunkBytes> packed;
    pack(call, layout, chunk, values, packed.data());
    const Kernels& loops = kernels(call.execution.backend);
    return static_cast<std::uint16_t>(loops.zero_run_encode(packed.data(), chunk.bytes(), out));
  }

  void pack(const StageCall& call, const Layout& layout, const Chunk& chunk,
            std::span<const float> values, std::uint8_t* out) const {
    const Kernels& loops = kernels(call.execution.backend);
    const Part& part = layout.packed[chunk.part];
    const float* const x = values.data() + part.offset;
    const float unit = units_[chunk.part];
    if (!options_.random_digits) {
      loops.pack_nearest(x, chunk.range, nearest_level(unit), out);
      return;
    }
    options_.packing(loops).pack_random(x, chunk.range, unit, draws(call),
                                        static_cast<std::uint32_t>(part.offset), out);
  }

  const Codec& codec_;
  const TernaryOptions options_;
  std::vector<float> units_;            // M of every packed part
  std::vector<std::uint16_t> lengths_;  // coded bytes of every chunk
};

}  // namespace

std::unique_ptr<Encoder> make_ternary_encoder(const Codec& codec, const TernaryOptions& options) {
  return std::make_unique<TernaryEncoder>(codec, options);
}

}  // namespace tributary::threelc
