// How long everything takes, by prefix sums, and how long an iteration takes with given groups.
//
// Three stages stand in a row, and each does one thing at a time: the device (backward pass of a
// group's tensors, then their compression, then the next group's backward pass), the network, and
// whoever decodes. A group is sent when it is compressed and the one before is sent, and decoded
// when it has arrived and the one before is decoded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/fusion/fusion_profile.h"

namespace tributary {

class FusionTimes {
 public:
  // The profile must be checked.
  explicit FusionTimes(const FusionProfile& profile);

  // Time and tensors the other way round: decoding is what the device does, and the device decodes.
  // Each plan, read from behind, takes as long here as there.
  FusionTimes mirrored() const;

  std::uint32_t tensors() const { return static_cast<std::uint32_t>(sent_.size() - 1); }
  bool decodes() const { return decode_alpha_s_ > 0 || decoded_.back() > 0; }
  double compress_alpha_s() const { return compress_alpha_s_; }
  double decode_alpha_s() const { return decode_alpha_s_; }

  // When the device has compressed the tensors before `end`, in so many groups: the number of
  // groups is all that matters of how they are cut.
  double compressed_s(std::uint32_t groups, std::uint32_t end) const {
    return computed_[end] + groups * compress_alpha_s_;
  }
  // Of one group, the tensors from `begin` to `end`.
  double send_s(std::uint32_t begin, std::uint32_t end) const {
    return send_alpha_s_ + (sent_[end] - sent_[begin]);
  }
  double decode_s(std::uint32_t begin, std::uint32_t end) const {
    return decode_alpha_s_ + (decoded_[end] - decoded_[begin]);
  }

  // What depends on bytes alone: the transfer of the tensors before `end`, and the decoding of
  // those behind `begin`.
  double sent_s(std::uint32_t end) const { return sent_[end]; }
  double left_to_decode_s(std::uint32_t begin) const { return decoded_.back() - decoded_[begin]; }
  double bytes(std::uint32_t begin, std::uint32_t end) const { return bytes_[end] - bytes_[begin]; }

 private:
  double compress_alpha_s_;
  double send_alpha_s_;
  double decode_alpha_s_;
  // Of the tensors before the index.
  std::vector<double> bytes_;
  std::vector<double> computed_;
  std::vector<double> sent_;
  std::vector<double> decoded_;
};

// From the start of the backward pass to the end of the last decoding. `groups` are counts of
// tensors; they must be positive and add up to all.
double fused_iteration_s(const FusionTimes& times, std::span<const std::uint32_t> groups);

}  // namespace tributary
