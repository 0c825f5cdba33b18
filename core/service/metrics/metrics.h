// Counters and gauges for Prometheus, on an HTTP port of their own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

using Labels = std::map<std::string, std::string>;

// Any thread may count.
class Metrics {
 public:
  virtual ~Metrics() = default;

  // Names begin with tributary_ and end in their unit, counters in _total.
  virtual void count(std::string_view name, const Labels& labels = {}, double by = 1) = 0;
  virtual void set(std::string_view name, double value, const Labels& labels = {}) = 0;

  // Where it listens, with the port that it has got; empty: nowhere.
  virtual std::string endpoint() const { return {}; }
};

// `listen` as "127.0.0.1:9464", port 0: any; empty: nothing is kept and nothing listens.
Result<std::unique_ptr<Metrics>> open_metrics(const std::string& listen);

}  // namespace tributary
