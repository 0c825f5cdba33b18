// A line that has become slower, and nothing that tells so but the time that rounds take: what goes
// over it is too little to time, or goes another way. A choice that has kept to its prediction and
// takes several times as long all at once has not changed; so it is told as lines that take so many
// times as long, for all choices alike. Were it held against the choice, every other one would look
// better, each until it is tried.
#pragma once

#include <functional>

namespace tributary {

class UnseenSlowdown {
 public:
  static constexpr double kSurprise = 3;  // so many times as long as predicted, or as short
  static constexpr int kRounds = 2;       // in a row
  static constexpr int kKept = 4;         // before them, to the prediction
  static constexpr double kMost = 64;     // what takes longer than this explains is no line's doing

  // Exchanges, one after another. `predicted_s` is what one takes where a byte takes so
  // many times as long as lines are known to take; it does not fall. True: it is a surprise, and
  // says nothing of the choice.
  bool explains(double measured_s, const std::function<double(double)>& predicted_s);
  // From here on exchanges are those of another choice.
  void choice_changes() { kept_ = row_ = 0; }
  // Lines are measured anew.
  void forget() { factor_ = 1; }

  double factor() const { return factor_; }

 private:
  double factor_ = 1;
  int kept_ = 0;
  int row_ = 0;
  double mildest_s_ = 0;  // of the row: what lies nearest to the prediction
};

}  // namespace tributary
