#include "core/plan/fusion/fusion_times.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tributary {

// Prefix sums over the tensors: each time of a group is the difference of two sums, so it costs
// constant time whatever the group's size.
FusionTimes::FusionTimes(const FusionProfile& profile)
    : compress_alpha_s_(profile.compress.alpha_s),
      send_alpha_s_(profile.network.alpha_s),
      // A group's payloads of all agents are decoded one after another.
      decode_alpha_s_(profile.decode.alpha_s * profile.decode_agents) {
  const std::size_t tensors = profile.bytes.size();
  bytes_.resize(tensors + 1);
  computed_.resize(tensors + 1);
  sent_.resize(tensors + 1);
  decoded_.resize(tensors + 1);
  double backward_s = 0;
  for (std::size_t i = 0; i < tensors; ++i) {
    backward_s += profile.backward_s[i];
    const double bytes = bytes_[i] + profile.bytes[i];
    bytes_[i + 1] = bytes;
    computed_[i + 1] = backward_s + profile.compress.beta_s_per_byte * bytes;
    sent_[i + 1] = profile.network.beta_s_per_byte * bytes;
    decoded_[i + 1] = profile.decode.beta_s_per_byte * profile.decode_agents * bytes;
  }
}

FusionTimes FusionTimes::mirrored() const {
  const auto from_behind = [](const std::vector<double>& sums) {
    std::vector<double> mirror(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      mirror[i] = sums.back() - sums[sums.size() - 1 - i];
    return mirror;
  };
  // Compression and decoding exchange their roles, with times counted from the end.
  FusionTimes mirror = *this;
  std::swap(mirror.compress_alpha_s_, mirror.decode_alpha_s_);
  mirror.bytes_ = from_behind(bytes_);
  mirror.computed_ = from_behind(decoded_);
  mirror.sent_ = from_behind(sent_);
  mirror.decoded_ = from_behind(computed_);
  return mirror;
}

// Three stages in a pipeline. A group is sent when it is compressed and the link is free, and
// decoded when it has arrived and the decoder is free.
double fused_iteration_s(const FusionTimes& times, std::span<const std::uint32_t> groups) {
  double sent_s = 0;
  double decoded_s = 0;
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    const std::uint32_t end = begin + groups[i];
    sent_s = std::max(sent_s, times.compressed_s(i + 1, end)) + times.send_s(begin, end);
    decoded_s = std::max(decoded_s, sent_s) + times.decode_s(begin, end);
    begin = end;
  }
  return decoded_s;
}

}  // namespace tributary
