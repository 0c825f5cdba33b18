// Operates an agent's link to the aggregator in the network, and exports its counters.
//
// Threads: all methods belong to the thread of the state machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"
#include "core/service/aggregator/aggregator_link.h"
#include "core/service/metrics/metrics.h"
#include "core/service/metrics/note_log.h"

namespace tributary {

class SumsService {
 public:
  // `log` and `metrics` must outlive the object.
  SumsService(std::unique_ptr<AggregatorLink> link, Log& log, Metrics& metrics)
      : link_(std::move(link)), log_(log), metrics_(metrics) {}

  void sum(SumInNetwork& bucket);
  void stop(const StopSums& attempt) { link_->stop(attempt); }

  // Sets the metrics of the link, and logs a packet that did not fit.
  void export_metrics(NoteLog& notes);

 private:
  const std::unique_ptr<AggregatorLink> link_;
  Log& log_;
  Metrics& metrics_;
  std::string aggregator_;  // of the newest bucket
  std::uint32_t epoch_ = 0;
};

}  // namespace tributary
