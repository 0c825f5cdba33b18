// The recurrence of fusion, a row at a time. A row is a number of groups j, a cell in it a number
// of tensors k:
//
//   D[j][k] = min over i < k of  max(D[j-1][i], compressed(j, k)) + send(i, k)
//   D[j][k] = D[j-1][k] where that is less
//
// is the earliest end of communication of the first k tensors in j groups, of which some may be
// empty: an empty group costs the device the start of a compression and sends nothing. No plan
// gains by one, so the best of all rows is that of plans without. But with them a row never falls:
// whoever sends k + 1 tensors can drop the last one and be no later. (Without them it may fall: two
// groups of two tensors can take longer than two groups of three, where the second is large and
// waits for a compression of its own.)
//
// Rows that do not fall make each one linear in the number of tensors. Let p be the last i with
// D[j-1][i] <= compressed(j, k).
//   - Up to p the device is what is waited for, all i start at the same time, and p has the least
//     to send.
//   - Behind p the network is what is waited for, and i costs D[j-1][i] - sent(i) and what depends
//     on k alone: the least of a window.
// compressed(j, k) does not fall either, so both ends of the window only move on, and a queue of
// falling candidates holds its minimum.
//
// With deadlines, decoding is served too, without a second dimension. A plan of J groups takes more
// than T exactly if for some group b, whose first tensor is i + 1,
//
//   end of sending b  >  T - (J - b + 1) alpha_decode - beta_decode * bytes(i ..)
//
// as all of that is left to decode then. Row b knows the right side but for J. It is told a number
// J' for it, and counts max(J' - b + 1, 1) groups: exact for J = J', too few where there are more,
// so that plans of J' groups and more which take no longer than T meet all deadlines. Cells beyond
// them are never (infinite). All shortcuts above still hold:
//   - dropping the last tensor moves no deadline of the groups that are left;
//   - up to p, who begins later has the later deadline as well as less to send;
//   - in the queue, a candidate that gives way to a later one of no greater cost gives way to a
//     later deadline too; and whoever misses its deadline for k misses it for all greater k.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/plan/fusion/fusion_times.h"

namespace tributary {

struct FusionDeadline {
  double iteration_s = std::numeric_limits<double>::infinity();  // T
  std::uint32_t groups = 1;                                      // J'
  bool strict = false;  // the iteration must be shorter, not as long
};

class FusionRows {
 public:
  // `times` must outlive this.
  explicit FusionRows(const FusionTimes& times);

  // Back to no group at all.
  void begin(const FusionDeadline& deadline);
  // One more group.
  void add_row();

  std::uint32_t rows() const { return rows_; }
  // When all tensors are sent, in at most rows() groups; infinity if no plan meets the deadline.
  double end_s() const { return row_.back(); }
  // When the first tensors are, by their number.
  std::span<const double> ends_s() const { return row_; }
  // The last row added is the same as the one before, and so will be all that follow: the device is
  // later, and no deadline is.
  bool settled() const { return repeats_ && rows_ >= deadline_.groups; }

  // The plan that ends at end_s() of the given row: counts of tensors, none of them 0. That row's
  // end must be finite.
  std::vector<std::uint32_t> groups(std::uint32_t row) const;

 private:
  struct Candidate {
    double cost_s;
    std::uint32_t begin;
  };
  using Choice = std::uint16_t;  // where the last group begins
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
  double row_deadline_s_ = 0;  // if all bytes were decoded
  std::uint32_t rows_ = 0;
  bool repeats_ = false;
  std::vector<double> before_;
  std::vector<double> row_;
  std::vector<Choice> choices_;  // row by row
  std::vector<Candidate> queue_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace tributary
