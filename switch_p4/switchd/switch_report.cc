#include "switch_p4/switchd/switch_report.h"

namespace tributary::switchd {
namespace {

using Json = nlohmann::ordered_json;

std::string reason_name(std::size_t reason) {
  return std::string(in_network::name(static_cast<in_network::DropReason>(reason)));
}

Json jobs_of(const SwitchFigures& figures) {
  Json jobs = Json::array();
  for (const in_network::SlotJob& job : figures.jobs) {
    jobs.push_back({{"handle", job.handle},
                    {"epoch", job.epoch},
                    {"agents", job.agents},
                    {"granularity", job.granularity},
                    {"sum_bits", job.wide() ? 16 : 8},
                    {"slots", job.slots},
                    {"packet_values", job.count()}});
  }
  return jobs;
}

}  // namespace

nlohmann::ordered_json json_of(const SwitchReport& report) {
  const in_network::SlotCounters& packets = report.figures.packets;
  const UdpCounters& port = report.figures.port;
  Json drops;
  for (std::size_t i = 1; i < in_network::kDropReasons; ++i) {
    drops[reason_name(i)] = packets.drops[i];
  }
  return {{"address", report.address},
          {"coordinator", report.coordinator},
          {"connected", report.connected},
          {"mode", report.figures.mode},
          {"jobs", jobs_of(report.figures)},
          {"slots", report.figures.slots},
          {"slots_free", report.figures.slots_free},
          {"contributions", packets.contributions},
          {"repeats", packets.repeats},
          {"results", packets.results},
          {"resent", packets.resent},
          {"group_falls", report.figures.group_falls},
          {"refusals", packets.refusals},
          {"drops", drops},
          {"received", port.received},
          {"receive_calls", port.receive_calls},
          {"sent", port.sent},
          {"send_calls", port.send_calls},
          {"unsent", port.unsent},
          {"reflected", report.figures.kernel.reflected},
          {"handed_over", report.figures.kernel.handed_over},
          {"passed", report.figures.kernel.passed}};
}

void export_figures(const SwitchReport& report, Metrics& metrics) {
  const in_network::SlotCounters& packets = report.figures.packets;
  const UdpCounters& port = report.figures.port;
  const auto set = [&](std::string_view name, auto value, const Labels& labels = {}) {
    metrics.set(name, static_cast<double>(value), labels);
  };
  set("tributary_connected", report.connected ? 1 : 0);
  set("tributary_switch_contributions_total", packets.contributions);
  set("tributary_switch_in_packets_total", port.received);
  set("tributary_switch_jobs", report.figures.jobs.size());
  set("tributary_switch_out_packets_total", port.sent);
  set("tributary_switch_refusals_total", packets.refusals);
  set("tributary_switch_repeats_total", packets.repeats);
  set("tributary_switch_resent_total", packets.resent);
  set("tributary_switch_results_total", packets.results);
  set("tributary_switch_slots", report.figures.slots);
  set("tributary_switch_slots_free", report.figures.slots_free);
  set("tributary_switch_unsent_packets_total", port.unsent);
  for (std::size_t i = 1; i < in_network::kDropReasons; ++i) {
    set("tributary_switch_dropped_total", packets.drops[i], {{"reason", reason_name(i)}});
  }
}

}  // namespace tributary::switchd
