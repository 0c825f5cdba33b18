// One measurement of the benchmark of a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/cuda/device.h"
#include "core/codec/payload.h"

namespace tributary::cuda {

struct DeviceCase {
  std::string name;
  std::uint64_t float_bytes;  // of float32 that one call encodes or decodes
  // Only adds work to the queue: no allocation and no wait, so that a graph can repeat it. All
  // memory is that of the device, allocated before.
  std::function<Status(const Queue& queue)> start;
  // Compares the result of a call with the scalar specification.
  std::function<Status(const Queue& queue)> check;
  // Spec of the codec whose whole encoding the case is, for the comparison with the host. Empty:
  // the first word of a name like "thc encode"; other cases are not compared.
  std::string codec = {};
};

// The body and the decoded values that the scalar specification makes of an update.
struct Specified {
  static Result<Specified> of(const Codec& codec, std::span<const float> update,
                              std::span<const LayerRun> layers = {}) {
    const StageCall call = {.round = {.layers = layers}, .execution = {.backend = Backend::scalar}};
    Bytes payload;
    Specified specified;
    TRIBUTARY_TRY(codec.make_encoder(static_cast<std::uint32_t>(update.size()))
                      ->encode(call, update, payload));
    TRIBUTARY_ASSIGN(const OpenPayload open, open_payload({}, payload));
    specified.body.assign(open.body.begin(), open.body.end());
    specified.decoded.resize(update.size());
    TRIBUTARY_TRY(codec.decode(call, payload, specified.decoded));
    return specified;
  }

  Bytes body;
  FloatVector decoded;
};

inline Status same_as_specified(bool same, std::string what) {
  return same ? Status()
              : Status(StatusCode::mismatch,
                       {.what = std::move(what), .expected = "the specification's"});
}

// Adds the cases of a bucket, which has encode(), decode(), check_encoding() and check_decoding().
template <typename Bucket>
void add_cases(const std::string& codec, const std::string& suffix, std::uint64_t float_bytes,
               const std::shared_ptr<Bucket>& bucket, std::vector<DeviceCase>& cases) {
  cases.push_back(
      {.name = codec + " encode" + suffix,
       .float_bytes = float_bytes,
       .start = [bucket](const Queue& queue) { return bucket->encode(queue); },
       .check = [bucket](const Queue& queue) { return bucket->check_encoding(queue); }});
  cases.push_back(
      {.name = codec + " decode" + suffix,
       .float_bytes = float_bytes,
       .start = [bucket](const Queue& queue) { return bucket->decode(queue); },
       .check = [bucket](const Queue& queue) { return bucket->check_decoding(queue); }});
}

}  // namespace tributary::cuda
