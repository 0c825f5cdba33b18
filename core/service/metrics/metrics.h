// Counters and gauges for Prometheus on an HTTP port of their own.
//
// A call costs a mutex and a lookup by name. The caller owns the object and keeps it as long as
// anything counts. Series are never removed, so labels must not contain numbers of rounds or
// sessions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

// Names and values of a series' labels. Each combination is a series of its own, so values must
// come from a small set.
using Labels = std::map<std::string, std::string>;

// Thread-safe.
class Metrics {
 public:
  virtual ~Metrics() = default;

  // Names are those of the table (metric_names.h). A metric with an old name is also exported under
  // that one.
  // Adds to a counter.
  virtual void count(std::string_view name, const Labels& labels = {}, double by = 1) = 0;
  // Sets a gauge, or raises a counter to the total that its source has counted.
  virtual void set(std::string_view name, double value, const Labels& labels = {}) = 0;

  // The endpoint with the port that was picked; empty if metrics are off.
  virtual std::string endpoint() const { return {}; }
};

// Listens at `listen`, such as "127.0.0.1:9464"; port 0 picks one. If `listen` is empty, metrics
// are off and all calls do nothing. Returns io_error if the port cannot be opened.
Result<std::unique_ptr<Metrics>> open_metrics(const std::string& listen);

}  // namespace tributary
