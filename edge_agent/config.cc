#include "edge_agent/config.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/thread_pool.h"
#include "core/codec/registry.h"
#include "core/collective/collective_name.h"
#include "core/cost/exchange_shape.h"
#include "core/service/peer_link.h"
#include "core/service/settings/udp_setting.h"
#include "core/train/agent_data.h"

namespace tributary {
namespace {

// Settings that need conversion after reading.
struct Unread {
  std::uint64_t model_mib_max = 0;
  std::string peers_transport = "tcp";
  std::string codec_device = "auto";
  std::string trainer_device = "host";
};

void bind(Settings& settings, AgentSettings& config, Unread& unread) {
  config.common.bind(settings);
  config.link.bind(settings);
  config.journal.bind(settings);
  settings.number<std::uint64_t>("link.shape_bytes_per_s", config.shape_bytes_per_s, 0);
  settings.number<std::uint64_t>("link.shape_burst_bytes", config.shape_burst_bytes, 0, 1u << 30);
  settings.text("link.shape_trace", config.shape_trace);
  settings.text("peers.transport", unread.peers_transport);
  settings.text("peers.endpoint", config.peers_endpoint);
  settings.text("peers.advertise", config.peers_advertise);
  settings.text("peers.shape_trace", config.peers_shape_trace);
  settings.bind("in_network.listen", accept_udp_address(config.in_network_listen));
  settings.bind("in_network.group", accept_udp_address(config.in_network_group));
  settings.number("hello.timeout_ms", config.machine.hello_timeout_ms, 10u, 600'000u);
  settings.number("hello.timeout_max_ms", config.machine.hello_timeout_max_ms, 10u, 600'000u);
  settings.number("hello.duplicate_refusals_max", config.machine.duplicate_refusals_max, 0u);
  settings.number<std::uint64_t>("limits.model_mib_max", unread.model_mib_max, 1, 1u << 20);
  settings.text("codec.device", unread.codec_device);
  settings.flag("audit", config.audit);
  settings.text("trainer.name", config.trainer);
  settings.number("trainer.train_ms", config.training.train_ms, 0u, 3'600'000u);
  settings.flag("trainer.ahead", config.machine.train_ahead);
  settings.text("trainer.device", unread.trainer_device);
  settings.number("trainer.threads", config.training.threads, 0u, 1'024u);
  settings.text("trainer.model_file", config.training.model_file);
  settings.text("trainer.library", config.training.library);
  settings.text("data.path", config.training.data.path);
  settings.text("data.format", config.training.data.format);
  settings.number("data.shard", config.training.data.shard, 0u);
  settings.number("data.shards", config.training.data.shards, 1u, 100'000u);
  settings.real("data.hold_out", config.training.data.hold_out, 0, 0.9);
  settings.flag("data.evaluate", config.training.data.evaluate);
  settings.real("data.skew", config.training.data.skew, 0, 1e6);
}

Result<PeerTransport> peer_transport(const std::string& name) {
  if (name == "tcp") return PeerTransport::tcp;
  if (name == "mpi") return PeerTransport::mpi;
  return Status(
      StatusCode::invalid_argument,
      {.what = "setting peers.transport", .expected = "tcp or mpi", .got = name, .remedy = {}});
}

// mpirun knows the addresses of its ranks, so settings of TCP endpoints with MPI are a mistake.
Status check_peers(const Settings& settings, const AgentSettings& config) {
  if (config.peers_transport == PeerTransport::mpi) {
    if (config.peers_endpoint.empty() && config.peers_advertise.empty()) return {};
    return Status(StatusCode::invalid_argument,
                  {.what = "settings peers.endpoint and peers.advertise",
                   .expected = "neither, with peers.transport = \"mpi\"",
                   .got = config.peers_endpoint + config.peers_advertise,
                   .remedy = "remove them: mpirun connects its ranks"});
  }
  if (config.peers_endpoint.empty()) {
    if (config.peers_advertise.empty()) return {};
    return settings.missing("peers.endpoint",
                            "set it to the address on which this agent listens for its peers");
  }
  return check_peer_addresses(config.peers_endpoint, config.peers_advertise);
}

Status check_in_network(const Settings& settings, const AgentSettings& config) {
  if (!settings.given("in_network.group")) return {};
  if (!settings.given("in_network.listen")) {
    return settings.missing("in_network.listen",
                            "set it to this machine's address towards the aggregator");
  }
  if (config.in_network_group.is_multicast()) return {};
  return Status(StatusCode::invalid_argument, {.what = "setting in_network.group",
                                               .expected = "an address in 224.0.0.0/4",
                                               .got = config.in_network_group.text()});
}

// Checks that need several settings. Each error names the one to change.
Status check_together(const Settings& settings, AgentSettings& config) {
  TRIBUTARY_TRY(config.link.settle(settings));
  TRIBUTARY_TRY(config.journal.settle(settings, "model and residual"));
  TRIBUTARY_TRY(check_peers(settings, config));
  TRIBUTARY_TRY(check_in_network(settings, config));
  if (config.trainer == "torch") TRIBUTARY_TRY(check_data_source(config.training.data, "data"));
  if (config.training.data.shard >= config.training.data.shards) {
    return Status(
        StatusCode::invalid_argument,
        {.what = "setting data.shard",
         .expected = fmt::format("0 to {}, below data.shards", config.training.data.shards - 1),
         .got = fmt::format("{}", config.training.data.shard),
         .remedy = "shards are numbered from 0"});
  }
  // Makes the trainer once to check its settings, so that an error appears at the start and not at
  // the first round.
  TRIBUTARY_TRY(make_trainer(config.trainer, config.training).status());
  return config.common.log_options().status();
}

// Announces to the coordinator what this build supports. Without an endpoint for peers and a port
// for sums in the network, an agent can only use the star.
void set_capabilities(bool peers, bool in_network, wire::CapabilitiesT& capabilities) {
  for (const CodecFamily& family : codec_families()) {
    auto offer = std::make_unique<wire::CodecOfferT>();
    offer->spec = family.name;
    capabilities.codecs.push_back(std::move(offer));
  }
  capabilities.collectives = {wire::Collective::star};
  if (peers) capabilities.collectives.assign(kCollectives.begin(), kCollectives.end());
  if (in_network) capabilities.collectives.push_back(wire::Collective::in_network);
  for (const std::string_view name : trainer_names()) capabilities.trainers.emplace_back(name);
}

// Threads that a training keeps busy. libtorch's default is one for each processor.
std::size_t training_threads(const AgentSettings& config, std::size_t processors) {
  if (config.trainer != "torch") return 1;
  return config.training.threads == 0 ? processors : config.training.threads;
}

}  // namespace

Result<AgentSettings> read_agent_settings(const DaemonFlags& flags) {
  AgentSettings config;
  Settings settings;
  Unread unread{.model_mib_max = config.machine.model_bytes_max >> 20};
  bind(settings, config, unread);
  TRIBUTARY_TRY(fill(settings, flags));
  if (!flags.join.empty()) config.link.set_join_file(flags.join);
  config.machine.model_bytes_max = unread.model_mib_max << 20;
  TRIBUTARY_ASSIGN(config.peers_transport, peer_transport(unread.peers_transport));
  TRIBUTARY_ASSIGN(config.codec_device, device_setting(unread.codec_device));
  TRIBUTARY_ASSIGN(config.training.trains_on, parse_trainer_device(unread.trainer_device));
  config.machine.build = build_version();
  config.exit_when_done = flags.exit_when_done;
  const std::size_t processors = hardware_threads();
  config.common.settle_threads(processors, training_threads(config, processors));
  const bool peers = config.peers_transport == PeerTransport::mpi || !config.peers_endpoint.empty();
  set_capabilities(peers, settings.given("in_network.listen"), config.machine.capabilities);
  TRIBUTARY_TRY(check_together(settings, config));
  config.machine.agent_id = config.training.agent_id = config.link.id;
  return config;
}

}  // namespace tributary
