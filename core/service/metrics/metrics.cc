#include "core/service/metrics/metrics.h"

#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <exception>
#include <mutex>
#include <vector>

#include "core/service/metrics/metric_names.h"

namespace tributary {
namespace {

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

  void count(std::string_view name, const Labels& labels, double by) override {
    const std::lock_guard lock(mutex_);
    const MetricFacts metric = facts(name);
    counter(name, metric.help).Add(labels).Increment(by);
    if (metric.old_name.empty()) return;
    counter(metric.old_name, old_help(metric)).Add(labels).Increment(by);
  }
  // Old names of totals were gauges and stay gauges.
  void set(std::string_view name, double value, const Labels& labels) override {
    const std::lock_guard lock(mutex_);
    const MetricFacts metric = facts(name);
    if (metric.type == MetricType::counter) {
      prometheus::Counter& total = counter(name, metric.help).Add(labels);
      // A counter must not fall. A lower total, as after a restart of its source, leaves it
      // unchanged.
      if (value > total.Value()) total.Increment(value - total.Value());
    } else {
      gauge(name, metric.help).Add(labels).Set(value);
    }
    if (metric.old_name.empty()) return;
    gauge(metric.old_name, old_help(metric)).Add(labels).Set(value);
  }
  std::string endpoint() const override { return endpoint_; }

 private:
  // A name that is not in the table is exported without a help text.
  static MetricFacts facts(std::string_view name) {
    const MetricFacts* const known = metric_named(name);
    return known ? *known : MetricFacts{.name = name};
  }
  static std::string old_help(const MetricFacts& metric) {
    return fmt::format("Deprecated, use {}.", metric.name);
  }

  template <typename Builder>
  auto& registered(Builder builder, std::string_view name, std::string_view help) {
    return builder.Name(std::string(name)).Help(std::string(help)).Register(*registry_);
  }

  // A family is registered when its name is first used. Caller holds mutex_.
  prometheus::Family<prometheus::Counter>& counter(std::string_view name, std::string_view help) {
    auto*& family = counters_[std::string(name)];
    if (!family) family = &registered(prometheus::BuildCounter(), name, help);
    return *family;
  }
  prometheus::Family<prometheus::Gauge>& gauge(std::string_view name, std::string_view help) {
    auto*& family = gauges_[std::string(name)];
    if (!family) family = &registered(prometheus::BuildGauge(), name, help);
    return *family;
  }
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
    return Status(StatusCode::io_error,
                  {.what = "metrics.listen",
                   .expected = "ADDRESS:PORT with a free port, for example 127.0.0.1:9464",
                   .got = "'" + listen + "': " + error.what(),
                   .remedy = "choose another port, or leave the setting out"});
  }
}

}  // namespace tributary
