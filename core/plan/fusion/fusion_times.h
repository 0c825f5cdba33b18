// The durations of all parts of an iteration, as prefix sums, and the duration of an iteration with
// given groups.
//
// Three stages form a pipeline, and each does one thing at a time: the device (backward pass of a
// group's tensors, then their compression, then the next group), the network, and the decoder. A
// group is sent once it is compressed and the previous group is sent. It is decoded once it has
// arrived and the previous group is decoded. All times are in seconds. The object is immutable
// after construction; all accessors take constant time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/fusion/fusion_profile.h"

namespace tributary {

class FusionTimes {
 public:
  // `profile` must have passed check_fusion_profile().
  explicit FusionTimes(const FusionProfile& profile);

  // Returns the problem with time and tensors reversed: decoding takes the role of the device, and
  // the device that of decoding. A plan read backwards takes the same time there.
  FusionTimes mirrored() const;

  std::uint32_t tensors() const { return static_cast<std::uint32_t>(sent_.size() - 1); }
  bool decodes() const { return decode_alpha_s_ > 0 || decoded_.back() > 0; }
  double compress_alpha_s() const { return compress_alpha_s_; }
  double decode_alpha_s() const { return decode_alpha_s_; }

  // Time at which the device has compressed the tensors before `end` in `groups` groups. It depends
  // only on the number of groups, not on where they are cut.
  double compressed_s(std::uint32_t groups, std::uint32_t end) const {
    return computed_[end] + groups * compress_alpha_s_;
  }
  // Durations for one group of the tensors [begin, end).
  double send_s(std::uint32_t begin, std::uint32_t end) const {
    return send_alpha_s_ + (sent_[end] - sent_[begin]);
  }
  double decode_s(std::uint32_t begin, std::uint32_t end) const {
    return decode_alpha_s_ + (decoded_[end] - decoded_[begin]);
  }

  // The parts that depend on bytes alone: the transfer of the tensors before `end`, and the
  // decoding of the tensors from `begin` on.
  double sent_s(std::uint32_t end) const { return sent_[end]; }
  double left_to_decode_s(std::uint32_t begin) const { return decoded_.back() - decoded_[begin]; }
  double bytes(std::uint32_t begin, std::uint32_t end) const { return bytes_[end] - bytes_[begin]; }

 private:
  double compress_alpha_s_;
  double send_alpha_s_;
  double decode_alpha_s_;
  // Prefix sums: entry i is the sum over the tensors before index i.
  std::vector<double> bytes_;
  std::vector<double> computed_;
  std::vector<double> sent_;
  std::vector<double> decoded_;
};

// Returns the time from the start of the backward pass to the end of the last decoding. `groups`
// are numbers of tensors; each must be positive, and they must add up to tensors().
double fused_iteration_s(const FusionTimes& times, std::span<const std::uint32_t> groups);

}  // namespace tributary
