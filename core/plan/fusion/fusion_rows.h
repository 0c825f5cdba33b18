// Computes the recurrence of fusion planning row by row. A row is a number of groups j; a cell in
// it is a number of tensors k:
//
//   D[j][k] = min over i < k of  max(D[j-1][i], compressed(j, k)) + send(i, k)
//   D[j][k] = D[j-1][k] if that is less
//
// D[j][k] is the earliest end of communication of the first k tensors in j groups, some of which
// may be empty. An empty group costs the device the start of a compression and sends nothing. No
// plan gains from an empty group, so the best of all rows is also the best without empty groups.
// With empty groups a row never decreases in k: a plan for k + 1 tensors can drop the last tensor
// and end no later. (Without them it can decrease: two groups of two tensors can take longer than
// two groups of three, if the second group is large and waits for its own compression.)
//
// Rows that do not decrease can each be computed in time linear in the number of tensors. Let p be
// the last i with D[j-1][i] <= compressed(j, k).
//   - Up to p the device is the bottleneck: all i start at the same time, and p has the least to
//     send.
//   - After p the network is the bottleneck: the cost of i is D[j-1][i] - sent(i) plus a term that
//     depends on k alone, so the best i is the minimum of a window.
// compressed(j, k) does not decrease either, so both ends of the window only advance, and a
// monotonic queue of candidates holds its minimum.
//
// Deadlines take decoding into account without a second dimension. A plan of J groups takes more
// than T exactly if for some group b, whose first tensor is i + 1,
//
//   end of sending b  >  T - (J - b + 1) alpha_decode - beta_decode * bytes(i ..)
//
// because all of that remains to be decoded at that time. In row b, everything on the right side
// except J is known. The caller supplies a number J', and the row counts max(J' - b + 1, 1) groups.
// This is exact for J = J' and too few for larger J. Therefore plans of J' or more groups that take
// no longer than T meet all deadlines. Cells that miss their deadline are infinite. The shortcuts
// above still hold:
//   - Dropping the last tensor moves no deadline of the remaining groups.
//   - Up to p, a later begin has a later deadline and less to send.
//   - In the queue, a candidate that is replaced by a later one of no greater cost is replaced by
//     one with a later deadline. A candidate that misses its deadline for k misses it for all
//     greater k.
//
// Cost: one row takes time linear in the number of tensors, and memory for one 16-bit choice per
// cell. An object is not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/plan/fusion/fusion_times.h"

namespace tributary {

// The deadline that a sequence of rows must meet.
struct FusionDeadline {
  double iteration_s = std::numeric_limits<double>::infinity();  // T
  std::uint32_t groups = 1;                                      // J'
  bool strict = false;  // true: the iteration must be shorter than T; false: at most T
};

class FusionRows {
 public:
  // `times` must outlive this object.
  explicit FusionRows(const FusionTimes& times);

  // Resets to zero groups.
  void begin(const FusionDeadline& deadline);
  // Adds one group.
  void add_row();

  std::uint32_t rows() const { return rows_; }
  // Time at which all tensors are sent in at most rows() groups; infinity if no plan meets the
  // deadline.
  double end_s() const { return row_.back(); }
  // End of sending of the first k tensors, indexed by k.
  std::span<const double> ends_s() const { return row_; }
  // Whether all further rows equal the last one. The device is only later with more groups, and no
  // deadline moves any more.
  bool settled() const { return repeats_ && rows_ >= deadline_.groups; }

  // Returns the numbers of tensors of the plan that ends at end_s() of the given row. None is 0.
  // The end of that row must be finite.
  std::vector<std::uint32_t> groups(std::uint32_t row) const;

 private:
  struct Candidate {
    double cost_s;
    std::uint32_t begin;
  };
  using Choice = std::uint16_t;  // index of the first tensor of the last group
  // The cell has the value of the row before.
  static constexpr Choice kAsBefore = 0xffff;
  static_assert(kFusionTensorsMax < kAsBefore);

  void offer(std::uint32_t begin);
  double end_of(std::uint32_t begin, std::uint32_t end, double ready_s) const {
    return std::max(before_[begin], ready_s) + times_.send_s(begin, end);
  }
  bool in_time(double end_s, std::uint32_t begin) const {
    const double deadline_s = row_deadline_s_ - times_.left_to_decode_s(begin);
    return deadline_.strict ? end_s < deadline_s : end_s <= deadline_s;
  }

  const FusionTimes& times_;
  const std::uint32_t tensors_;
  FusionDeadline deadline_;
  double row_deadline_s_ = 0;  // deadline of the row if no bytes remained to be decoded
  std::uint32_t rows_ = 0;
  bool repeats_ = false;
  // D[j-1] and D[j].
  std::vector<double> before_;
  std::vector<double> row_;
  std::vector<Choice> choices_;  // all rows, one after another
  // The monotonic queue: the live entries are [head_, tail_).
  std::vector<Candidate> queue_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace tributary
