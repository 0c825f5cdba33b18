#include "core/plan/fusion/fusion_rows.h"

#include <algorithm>

namespace tributary {
namespace {

constexpr double kNeverDone = std::numeric_limits<double>::infinity();

}  // namespace

FusionRows::FusionRows(const FusionTimes& times)
    : times_(times),
      tensors_(times.tensors()),
      before_(tensors_ + 1),
      row_(tensors_ + 1),
      queue_(tensors_ + 1) {}

void FusionRows::begin(const FusionDeadline& deadline) {
  deadline_ = deadline;
  rows_ = 0;
  repeats_ = false;
  std::ranges::fill(row_, kNeverDone);
  row_[0] = 0;
}

// A candidate with a greater `begin` has less to send, and so replaces earlier candidates of no
// smaller cost.
void FusionRows::offer(std::uint32_t begin) {
  if (before_[begin] == kNeverDone) return;
  const double cost_s = before_[begin] - times_.sent_s(begin);
  while (tail_ > head_ && queue_[tail_ - 1].cost_s >= cost_s) --tail_;
  queue_[tail_++] = {.cost_s = cost_s, .begin = begin};
}

void FusionRows::add_row() {
  // Number of groups that are not decoded yet, this one included: max(J' - b + 1, 1) for row b.
  const std::uint32_t undecoded = deadline_.groups > rows_ ? deadline_.groups - rows_ : 1;
  row_deadline_s_ = deadline_.iteration_s - undecoded * times_.decode_alpha_s();
  ++rows_;
  std::swap(before_, row_);
  row_[0] = 0;
  const std::size_t row_size = tensors_ + 1;
  if (choices_.size() < rows_ * row_size) choices_.resize(rows_ * row_size);
  Choice* const choices = choices_.data() + (rows_ - 1) * row_size;
  head_ = tail_ = 0;
  repeats_ = true;
  std::uint32_t device = 0;  // last begin at which the device is the bottleneck
  for (std::uint32_t end = 1; end <= tensors_; ++end) {
    offer(end - 1);
    const double ready_s = times_.compressed_s(rows_, end);
    // `device` is p of the header and only advances, because neither the row before nor ready_s
    // decreases.
    while (device + 1 < end && before_[device + 1] <= ready_s) ++device;
    while (head_ < tail_ && queue_[head_].begin <= device) ++head_;
    // A candidate that misses its deadline here misses it for all later ends, so it leaves the
    // queue.
    while (head_ < tail_ &&
           !in_time(end_of(queue_[head_].begin, end, ready_s), queue_[head_].begin)) {
      ++head_;
    }
    row_[end] = before_[end];
    choices[end] = kAsBefore;
    const auto improve = [&](std::uint32_t begin) {
      const double end_s = end_of(begin, end, ready_s);
      if (end_s >= row_[end] || !in_time(end_s, begin)) return;
      row_[end] = end_s;
      choices[end] = static_cast<Choice>(begin);
      repeats_ = false;
    };
    improve(device);
    if (head_ < tail_) improve(queue_[head_].begin);
    if (row_[end] == kNeverDone) {  // later cells miss the deadline as well
      std::fill(row_.begin() + end, row_.end(), kNeverDone);
      break;
    }
  }
}

// Walks back from the last tensor. A cell that equals the one above it belongs to an empty group.
std::vector<std::uint32_t> FusionRows::groups(std::uint32_t row) const {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t end = tensors_; end > 0; --row) {
    const Choice begin = choices_[(row - 1) * (std::size_t{tensors_} + 1) + end];
    if (begin == kAsBefore) continue;
    groups.push_back(end - begin);
    end = begin;
  }
  std::ranges::reverse(groups);
  return groups;
}

}  // namespace tributary
