#include "switch_p4/switchd/config.h"

#include <fmt/format.h>

#include <utility>

#include "core/service/settings/udp_setting.h"
#include "switch_p4/switchd/jobs/job_text.h"

namespace tributary::switchd {
namespace {

void bind(Settings& settings, SwitchSettings& config, std::vector<std::string>& jobs) {
  config.common.bind_outlets(settings);
  config.link.bind(settings);
  settings.bind("switch.listen", accept_udp_address(config.ports.listen));
  settings.bind("switch.advertise", accept_udp_address(config.advertise));
  settings.bind("switch.group", accept_udp_address(config.ports.group));
  settings.number("switch.slots", config.ports.slots, 1u, in_network::kSlotsMax);
  settings.number("switch.values", config.packet_values, in_network::kCountUnit,
                  in_network::kCountMaxNarrow);
  settings.number("switch.batch", config.ports.batch, 1u, 1024u);
  settings.flag("switch.segments", config.ports.segments);
  settings.text("switch.state", config.state);
  settings.texts("switch.jobs", jobs);
}

// With an address to advertise, the port may listen at all interfaces: agents never see that.
Status check_addresses(const Settings& settings, SwitchSettings& config) {
  if (!settings.given("switch.listen")) {
    return settings.missing("switch.listen", "set it, for example to 192.168.1.1:4650");
  }
  if (settings.given("switch.group") && !config.ports.group.is_multicast()) {
    return Status(StatusCode::invalid_argument, {.what = "setting switch.group",
                                                 .expected = "an address in 224.0.0.0/4",
                                                 .got = config.ports.group.text()});
  }
  if (!config.link.given()) return {};
  if (!settings.given("switch.advertise")) config.advertise = config.ports.listen;
  if (config.advertise.ip == 0) {
    return settings.missing("switch.advertise",
                            "name the address that agents send to, because switch.listen is every "
                            "address of this machine");
  }
  return {};
}

}  // namespace

Result<SwitchSettings> read_switch_settings(const DaemonFlags& flags, const BindMore& bind_more) {
  SwitchSettings config;
  std::vector<std::string> jobs;
  Settings settings;
  bind(settings, config, jobs);
  if (bind_more) bind_more(settings);
  TRIBUTARY_TRY(fill(settings, flags));
  if (!flags.join.empty()) config.link.set_join_file(flags.join);
  TRIBUTARY_TRY(config.common.log_options().status());
  TRIBUTARY_TRY(check_addresses(settings, config));
  if (config.packet_values % in_network::kCountUnit != 0) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting switch.values",
                   .expected = fmt::format("a multiple of {}", in_network::kCountUnit),
                   .got = fmt::format("{}", config.packet_values)});
  }
  if (config.state.empty()) {
    return settings.missing("switch.state", "name the file of the epochs that were installed");
  }
  if (config.link.given()) {
    TRIBUTARY_TRY(config.link.settle(settings));
    if (!jobs.empty()) {
      return Status(StatusCode::invalid_argument,
                    {.what = "setting switch.jobs",
                     .expected = "jobs from the settings or from a coordinator, not from both",
                     .got = "both",
                     .remedy = "leave switch.jobs out"});
    }
  }
  for (const std::string& text : jobs) {
    TRIBUTARY_ASSIGN(in_network::SlotJob job, parse_job(text));
    config.jobs.push_back(std::move(job));
  }
  return config;
}

}  // namespace tributary::switchd
