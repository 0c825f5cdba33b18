// Detects a link that has become slower, if only the duration of rounds shows it, because its
// traffic is too small to measure or takes another path.
//
// If a choice that matched its prediction suddenly takes several times as long, the link has
// changed and not the choice. The planner then scales the link for all choices alike. If the
// slowdown counted against the choice, every other choice would look better until it is tried. The
// object is not thread-safe.
#pragma once

#include <functional>

namespace tributary {

class UnseenSlowdown {
 public:
  // Ratio of measured to predicted time, or its inverse, that is a surprise.
  static constexpr double kSurprise = 3;
  static constexpr int kRounds = 2;  // surprises in a row that change the factor
  static constexpr int kKept = 4;    // exchanges as predicted that must precede them
  // Largest factor; a longer time has another cause than the link.
  static constexpr double kMost = 64;

  // Adds one exchange, in order. `predicted_s(f)` returns the duration if each byte takes f times
  // as long as the links' known rates; it must not decrease in f. Returns true if the exchange is a
  // surprise: the caller must not use it to judge the choice.
  bool explains(double measured_s, const std::function<double(double)>& predicted_s);
  // The following exchanges belong to another choice.
  void choice_changes() { kept_ = row_ = 0; }
  // The links were measured again, so the factor is 1.
  void forget() { factor_ = 1; }

  // Time per byte relative to the known rates, 1 or more.
  double factor() const { return factor_; }

 private:
  double factor_ = 1;
  int kept_ = 0;
  int row_ = 0;
  double mildest_s_ = 0;  // duration nearest to the prediction in the current row of surprises
};

}  // namespace tributary
