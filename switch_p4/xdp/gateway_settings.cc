#include "switch_p4/xdp/gateway_settings.h"

#include "switch_p4/switchd/jobs/job_text.h"

namespace tributary::switch_xdp {
namespace {

const std::string& text_of(const Settings::Value& value) {
  static const std::string kNone;
  const auto* const text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : kNone;
}

Settings::Accept accept_gateway_address(UdpAddress& target) {
  return [&target](const Settings::Value& value) -> Status {
    TRIBUTARY_ASSIGN(target, UdpAddress::parse(text_of(value)));
    return {};
  };
}

Status check_gateway(const Settings& settings, const GatewaySettings& read) {
  if (!settings.given("switch.listen")) {
    return settings.missing("switch.listen", "set it, for example to 192.168.1.1:4650");
  }
  if (read.gateway.listen.port == 0) {
    return Status(StatusCode::invalid_argument,
                  {.what = "'switch.listen'",
                   .expected = "a port, which the XDP program must know",
                   .got = read.gateway.listen.text()});
  }
  if (read.device.empty()) {
    return settings.missing("switch.device", "name the network device, for example eth0");
  }
  if (read.state.empty()) {
    return settings.missing("switch.state", "name the file of the epochs that were installed");
  }
  if (settings.given("switch.group") && !read.gateway.group.is_multicast()) {
    return Status(StatusCode::invalid_argument, {.what = "'switch.group'",
                                                 .expected = "an address in 224.0.0.0/4",
                                                 .got = read.gateway.group.text()});
  }
  return {};
}

}  // namespace

Result<GatewaySettings> read_gateway_settings(const DaemonFlags& flags) {
  GatewaySettings read;
  std::vector<std::string> jobs;
  Settings settings;
  read.common.bind_log(settings);
  settings.bind("switch.listen", accept_gateway_address(read.gateway.listen));
  settings.bind("switch.group", accept_gateway_address(read.gateway.group));
  settings.bind("switch.mode", [&read](const Settings::Value& value) -> Status {
    TRIBUTARY_ASSIGN(read.mode, parse_mode(text_of(value)));
    return {};
  });
  settings.text("switch.device", read.device);
  settings.number("switch.slots", read.gateway.slots, 1u, in_network::kSlotsMax);
  settings.number("switch.batch", read.batch, 1u, 1024u);
  settings.flag("switch.segments", read.segments);
  settings.text("switch.state", read.state);
  settings.texts("switch.jobs", jobs);
  TRIBUTARY_TRY(fill(settings, flags));
  TRIBUTARY_TRY(read.common.log_options().status());
  TRIBUTARY_TRY(check_gateway(settings, read));
  for (const std::string& text : jobs) {
    TRIBUTARY_ASSIGN(in_network::SlotJob job, switchd::parse_job(text));
    read.jobs.push_back(std::move(job));
  }
  return read;
}

}  // namespace tributary::switch_xdp
