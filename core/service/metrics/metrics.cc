#include "core/service/metrics/metrics.h"

#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <exception>
#include <mutex>
#include <vector>

#include "core/service/metrics/reading_metrics.h"

namespace tributary {
namespace {

// Adds the metric's name and help text to a builder of prometheus-cpp.
template <typename Builder>
Builder described(Builder builder, std::string_view name) {
  builder.Name(std::string(name)).Help(std::string(metric_help(name)));
  return builder;
}

// Metrics that are off.
class NoMetrics final : public Metrics {
 public:
  void count(std::string_view, const Labels&, double) override {}
  void set(std::string_view, double, const Labels&) override {}
};

class PrometheusMetrics final : public Metrics {
 public:
  explicit PrometheusMetrics(const std::string& listen)
      // One thread answers requests.
      : registry_(std::make_shared<prometheus::Registry>()), exposer_(listen, 1) {
    exposer_.RegisterCollectable(registry_);
    const std::vector<int> ports = exposer_.GetListeningPorts();
    const std::size_t colon = listen.rfind(':');
    const std::string address = colon == std::string::npos ? "*" : listen.substr(0, colon);
    endpoint_ = fmt::format("{}:{}", address, ports.empty() ? 0 : ports.front());
  }

  // A family is registered when its name is first used.
  void count(std::string_view name, const Labels& labels, double by) override {
    const std::lock_guard lock(mutex_);
    auto*& family = counters_[std::string(name)];
    if (!family) family = &described(prometheus::BuildCounter(), name).Register(*registry_);
    family->Add(labels).Increment(by);
  }
  void set(std::string_view name, double value, const Labels& labels) override {
    const std::lock_guard lock(mutex_);
    auto*& family = gauges_[std::string(name)];
    if (!family) family = &described(prometheus::BuildGauge(), name).Register(*registry_);
    family->Add(labels).Set(value);
  }
  std::string endpoint() const override { return endpoint_; }

 private:
  std::mutex mutex_;
  std::shared_ptr<prometheus::Registry> registry_;
  std::map<std::string, prometheus::Family<prometheus::Counter>*> counters_;
  std::map<std::string, prometheus::Family<prometheus::Gauge>*> gauges_;
  std::string endpoint_;
  prometheus::Exposer exposer_;  // destroyed first, because it reads the registry
};

}  // namespace

Result<std::unique_ptr<Metrics>> open_metrics(const std::string& listen) {
  if (listen.empty()) return std::unique_ptr<Metrics>(std::make_unique<NoMetrics>());
  try {
    return std::unique_ptr<Metrics>(std::make_unique<PrometheusMetrics>(listen));
  } catch (const std::exception& error) {
    return Status(StatusCode::io_error, {.what = "metrics.listen",
                                         .expected = "an address that is free, as 127.0.0.1:9464",
                                         .got = listen + ": " + error.what(),
                                         .remedy = "choose another, or leave it out"});
  }
}

}  // namespace tributary
