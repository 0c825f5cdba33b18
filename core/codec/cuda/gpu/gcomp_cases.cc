#include "core/codec/cuda/gpu/gcomp_cases.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/codec/cuda/gcomp/gcomp.h"
#include "core/codec/cuda/gcomp/loops.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/gcomp/chunk.h"

namespace tributary::cuda {
namespace {

// A bucket, and all arrays of its encoding and decoding, which stay on the device.
class GCompCase {
 public:
  // Truncates all values at `level`; level 0 is lossless.
  static Result<std::shared_ptr<GCompCase>> make(const FloatVector& update, unsigned level) {
    TRIBUTARY_ASSIGN(Workspace space, Workspaces().take());
    const std::shared_ptr<GCompCase> made(new GCompCase(update, level, std::move(space)));
    TRIBUTARY_TRY(made->prepare());
    return made;
  }

  Status encode(const Queue& queue) const { return encode_chunks(queue, encoding_); }
  Status encode_with_new_book(const Queue& queue) const {
    TRIBUTARY_TRY(count_exponents(queue, encoding_.x, encoding_.n, making_));
    TRIBUTARY_TRY(make_code_table(queue, gcomp::kCodeBitsMax, making_));
    return encode(queue);
  }
  Status decode(const Queue& queue) const { return decode_chunks(queue, decoding_); }

  Status check_encoding(const Queue& queue) const {
    RawVector<std::uint8_t> got(expected_.size());
    TRIBUTARY_TRY(copy_to_host(queue, encoding_.body, got.size(), got.data()));
    TRIBUTARY_TRY(queue.wait());
    return same_as_specified(std::ranges::equal(got, expected_), "payload of GComp");
  }
  Status check_decoding(const Queue& queue) const {
    FloatVector got(update_.size());
    TRIBUTARY_TRY(copy_to_host(queue, decoding_.x, got.size() * sizeof(float), got.data()));
    TRIBUTARY_TRY(queue.wait());
    return same_as_specified(
        std::memcmp(got.data(), decoded_.data(), got.size() * sizeof(float)) == 0,
        "values of GComp");
  }

 private:
  GCompCase(const FloatVector& update, unsigned level, Workspace space)
      : update_(update), level_(level), space_(std::move(space)) {}

  // The payload and the values of the specification, with the codebook of all values.
  void specify() {
    const std::size_t n = update_.size();
    const std::size_t chunks = gcomp_chunks(static_cast<std::uint32_t>(n));
    const std::size_t stride = (chunks + 15) / 16;
    gcomp::Histogram histogram = {};
    for (std::size_t i = 0; i < n; ++i) {
      if (i / kGCompChunk % stride != 0) continue;
      std::uint32_t bits;
      std::memcpy(&bits, &update_[i], sizeof(bits));
      ++histogram[gcomp::exponent_of(bits)];
    }
    book_ = gcomp::make_codebook(histogram, gcomp::kCodeBitsMax, 0);
    expected_.resize(chunks * (sizeof(std::uint32_t) + gcomp::chunk_bytes_max(kGCompChunk)));
    begins_ = {static_cast<std::uint32_t>(chunks * sizeof(std::uint32_t))};
    decoded_.resize(n);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const std::size_t begin = chunk * kGCompChunk;
      const std::size_t size = std::min<std::size_t>(kGCompChunk, n - begin);
      std::uint8_t* const out = expected_.data() + begins_.back();
      const auto bytes = static_cast<std::uint32_t>(
          gcomp::encode_chunk(gcomp::simd_kernels(), &book_, {.level = level_}, level_ == 0,
                              std::span<const float>(update_).subspan(begin, size), out)
              .bytes);
      std::memcpy(expected_.data() + chunk * sizeof(bytes), &bytes, sizeof(bytes));
      gcomp::decode_chunk(gcomp::scalar_kernels(), &book_, {out, bytes}, bytes,
                          std::span<float>(decoded_).subspan(begin, size));
      begins_.push_back(begins_.back() + bytes);
    }
    expected_.resize(begins_.back());
  }

  Status prepare() {
    specify();
    const auto n = static_cast<std::uint32_t>(update_.size());
    codes_ = code_table(book_);
    decode_codes_ = decode_table(book_);
    encoding_ = {
        .n = n, .rule = {.level = level_}, .exact = level_ == 0, .coded = true, .level = level_};
    TRIBUTARY_ASSIGN(encoding_.x, space_.upload(std::span<const float>(update_)));
    TRIBUTARY_ASSIGN(making_, make_book_arrays(space_));
    TRIBUTARY_TRY(copy_to_device(space_.queue(), &codes_, sizeof(codes_), making_.table));
    encoding_.table = making_.table;
    TRIBUTARY_ASSIGN(encoding_.body, space_.array<std::uint8_t>(expected_.size()));
    TRIBUTARY_TRY(make_arrays(space_, encoding_));

    decoding_ = {.n = n};
    TRIBUTARY_ASSIGN(decoding_.body, space_.upload(std::span<const std::uint8_t>(expected_)));
    TRIBUTARY_ASSIGN(decoding_.begins, space_.upload(std::span<const std::uint32_t>(begins_)));
    TRIBUTARY_ASSIGN(decoding_.table,
                     space_.upload(std::span<const DecodeTable>(&decode_codes_, 1)));
    TRIBUTARY_ASSIGN(decoding_.x, space_.array<float>(n));
    TRIBUTARY_ASSIGN(decoding_.largest, space_.upload(std::span<const std::uint32_t>(kNone)));
    decoding_.faults = decoding_.largest + 1;
    TRIBUTARY_TRY(make_arrays(space_, decoding_));
    return space_.wait();
  }

  static constexpr std::uint32_t kNone[2] = {};

  const FloatVector update_;
  const unsigned level_;
  Workspace space_;
  gcomp::Codebook book_;
  RawVector<std::uint8_t> expected_;  // the table of chunks and the chunks
  RawVector<std::uint32_t> begins_;
  FloatVector decoded_;
  CodeTable codes_ = {};
  DecodeTable decode_codes_ = {};
  BookMaking making_ = {};
  GCompEncoding encoding_;
  GCompDecoding decoding_;
};

}  // namespace

Result<std::vector<DeviceCase>> gcomp_cases(const FloatVector& update) {
  std::vector<DeviceCase> cases;
  const std::uint64_t bytes = update.size() * sizeof(float);
  for (const unsigned level : {0u, 2u}) {
    TRIBUTARY_ASSIGN(const std::shared_ptr<GCompCase> one, GCompCase::make(update, level));
    const std::string name = level == 0 ? "GComp lossless" : "GComp 12 bits";
    const auto check = [one](const Queue& queue) { return one->check_encoding(queue); };
    cases.push_back(
        {name + " encode", bytes, [one](const Queue& queue) { return one->encode(queue); }, check});
    cases.push_back({name + " encode with a new codebook", bytes,
                     [one](const Queue& queue) { return one->encode_with_new_book(queue); },
                     check});
    cases.push_back({name + " decode", bytes,
                     [one](const Queue& queue) { return one->decode(queue); },
                     [one](const Queue& queue) { return one->check_decoding(queue); }});
  }
  return cases;
}

}  // namespace tributary::cuda
