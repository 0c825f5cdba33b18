// Formats the numbers of a round and of its plan as a list. Pure function; any thread.
//
// The result has one line per fact that the detail contains, in the order in which the page shows
// them. Facts that are unknown are left out.
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

// `predicted_s` is the prediction in the table of rounds; NaN if there is none.
std::vector<Fact> round_facts(const RoundDetail& detail, double predicted_s);

}  // namespace tributary::dashboard
