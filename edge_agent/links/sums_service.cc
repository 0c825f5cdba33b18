#include "edge_agent/links/sums_service.h"

#include <optional>
#include <utility>

namespace tributary {

void SumsService::sum(SumInNetwork& bucket) {
  if (bucket.aggregator != aggregator_ || bucket.epoch != epoch_) {
    aggregator_ = bucket.aggregator;
    epoch_ = bucket.epoch;
    log_.info("agent", "sums in the network",
              {{"aggregator", aggregator_}, {"epoch", epoch_}, {"agents", bucket.agents}});
  }
  link_->sum(std::move(bucket));
}

void SumsService::export_metrics(NoteLog& notes) {
  const AggregatorCounters counters = link_->counters();
  const auto set = [this](std::string_view name, std::uint64_t value, const Labels& labels = {}) {
    metrics_.set(name, static_cast<double>(value), labels);
  };
  set("tributary_in_network_buckets_total", counters.buckets_summed, {{"outcome", "summed"}});
  set("tributary_in_network_buckets_total", counters.buckets_failed, {{"outcome", "failed"}});
  set("tributary_in_network_in_packets_total", counters.packets_in);
  set("tributary_in_network_out_packets_total", counters.packets_out);
  set("tributary_in_network_repeats_total", counters.repeats);
  for (std::size_t i = 1; i < counters.ignored.size(); ++i) {
    const auto reason = static_cast<in_network::DropReason>(i);
    set("tributary_in_network_ignored_total", counters.ignored[i],
        {{"reason", std::string(in_network::name(reason))}});
  }
  if (const std::optional<Status> fault = link_->take_fault()) {
    notes.note({.level = LogLevel::warning,
                .name = "packet_ignored",
                .reason = name(fault->code()),
                .source = aggregator_,
                .text = fault->text()});
  }
}

}  // namespace tributary
