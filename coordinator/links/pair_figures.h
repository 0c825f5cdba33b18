// What agents say of the ways from one to another: the last word of each, and how old it is. They
// measure from the payloads that peers exchange, and nobody else can. Pure: times are handed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/link_quality/link_estimator.h"
#include "core/round/common/machine/actions.h"

namespace tributary {

struct PairFigure {
  std::string from;
  std::string to;  // who has measured it
  MeasuredLink measured;
};

class PairFigures {
 public:
  // Another one takes the place of the one that was told longest ago.
  explicit PairFigures(std::size_t pairs_max = 16 * 1024) : pairs_max_(pairs_max) {}

  // What is a figure that a link can have. Those that are none are counted and dropped.
  std::vector<PairFigure> take(double now_s, const LinksTold& told);

  // Those with the lowest rate first; what is not known is last.
  std::vector<PairFigure> slowest(double now_s, std::size_t count_max) const;
  MeasuredLink measured(const std::string& from, const std::string& to, double now_s) const;
  std::size_t size() const { return pairs_.size(); }
  std::uint64_t ignored() const { return ignored_; }

 private:
  struct Quantity {
    LinkQuantity told;  // its age then
    double told_at_s = 0;
    LinkQuantity at(double now_s) const;
  };
  struct Pair {
    Quantity alpha_s;
    Quantity beta_s_per_byte;
    std::uint64_t heard = 0;
  };
  static MeasuredLink measured(const Pair& pair, double now_s);
  Pair& pair(const std::string& from, const std::string& to);

  std::size_t pairs_max_;
  std::map<std::pair<std::string, std::string>, Pair> pairs_;
  std::uint64_t heard_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace tributary
