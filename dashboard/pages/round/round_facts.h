// The numbers of a round, worded.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "core/run/round_detail.h"

namespace tributary::dashboard {

struct Fact {
  QString name = {};
  QString value = {};
};

// `predicted_s` stands in the table of rounds; NaN: nothing was.
std::vector<Fact> round_facts(const RoundDetail& detail, double predicted_s);

}  // namespace tributary::dashboard
