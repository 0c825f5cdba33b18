#include "bench/harness/peers.h"

#include <zstd.h>

#include <cstring>

#include "core/base/random.h"

namespace tributary::bench {
namespace {

Status same_or(bool same, const char* what) {
  return same ? Status() : Status(StatusCode::mismatch, {.what = what, .expected = "the input"});
}

// Compression on one core: libzstd is called without threads.
struct Zstd {
  Zstd(const SharedUpdate& input, int compression_level)
      : update(input),
        level(compression_level),
        bytes(ZSTD_compressBound(input->size() * sizeof(float))),
        decoded(input->size()) {}

  void encode() {
    size = ZSTD_compress(bytes.data(), bytes.size(), update->data(), update->size() * sizeof(float),
                         level);
  }
  void decode() {
    ZSTD_decompress(decoded.data(), decoded.size() * sizeof(float), bytes.data(), size);
  }
  Status check() {
    decode();
    return same_or(decoded == *update, "what zstd decoded");
  }

  SharedUpdate update;
  int level;
  Bytes bytes;
  FloatVector decoded;
  std::size_t size = 0;
};

std::string zstd_name(int level, const char* verb) {
  return "zstd -" + std::to_string(level) + " " + verb;
}

double bytes_of_update(const SharedUpdate& update) {
  return static_cast<double>(update->size() * sizeof(float));
}

}  // namespace

SharedUpdate normal_update(std::uint64_t bytes) {
  const NormalStream normals({.purpose = DrawPurpose::synthetic_data});
  auto update = std::make_shared<FloatVector>(bytes / sizeof(float));
  for (std::size_t i = 0; i + 1 < update->size(); i += 2) {
    const auto pair = normals.pair(static_cast<std::uint32_t>(i / 2));
    (*update)[i] = static_cast<float>(pair[0]);
    (*update)[i + 1] = static_cast<float>(pair[1]);
  }
  return update;
}

Case memcpy_case(const SharedUpdate& update) {
  const auto copy = std::make_shared<FloatVector>(update->size());
  return {.name = "memcpy",
          .bytes = bytes_of_update(update),
          .run = [=] { std::memcpy(copy->data(), update->data(), copy->size() * sizeof(float)); },
          .check = [=] { return same_or(*copy == *update, "what memcpy copied"); }};
}

Case zstd_encode_case(const SharedUpdate& update, int level) {
  const auto zstd = std::make_shared<Zstd>(update, level);
  return {.name = zstd_name(level, "encode"),
          .bytes = bytes_of_update(update),
          .run = [=] { zstd->encode(); },
          .check = [=] { return zstd->check(); }};
}

Case zstd_decode_case(const SharedUpdate& update, int level) {
  const auto zstd = std::make_shared<Zstd>(update, level);
  zstd->encode();
  return {.name = zstd_name(level, "decode"),
          .bytes = bytes_of_update(update),
          .run = [=] { zstd->decode(); },
          .check = [=] { return same_or(zstd->decoded == *update, "what zstd decoded"); }};
}

}  // namespace tributary::bench
