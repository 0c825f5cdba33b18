#include "edge_agent/config.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/thread_pool.h"
#include "core/codec/registry.h"
#include "core/collective/collective_name.h"
#include "core/cost/exchange_shape.h"
#include "core/net/access/allow_list.h"
#include "core/net/access/join_file.h"
#include "core/service/peer_link.h"
#include "core/train/agent_data.h"

namespace tributary {
namespace {

// Settings that need conversion after reading.
struct Unread {
  std::uint64_t model_mib_max = 0;
  std::string peers_transport = "tcp";
  std::string codec_device = "auto";
};

void bind(Settings& settings, AgentSettings& config, Unread& unread) {
  config.common.bind(settings);
  settings.text("agent_id", config.machine.agent_id);
  config.journal.bind(settings);
  settings.text("link.coordinator", config.coordinator);
  settings.text("link.coordinator_key", config.coordinator_key);
  settings.text("link.key_file", config.key_file);
  settings.text("link.join_file", config.join_file);
  settings.flag("link.encrypted", config.encrypted);
  settings.number<std::uint64_t>("link.shape_bytes_per_s", config.shape_bytes_per_s, 0);
  settings.number<std::uint64_t>("link.shape_burst_bytes", config.shape_burst_bytes, 0, 1u << 30);
  settings.text("link.shape_trace", config.shape_trace);
  settings.text("peers.transport", unread.peers_transport);
  settings.text("peers.endpoint", config.peers_endpoint);
  settings.text("peers.advertise", config.peers_advertise);
  settings.text("peers.shape_trace", config.peers_shape_trace);
  settings.number("hello.timeout_ms", config.machine.hello_timeout_ms, 10u, 600'000u);
  settings.number("hello.timeout_max_ms", config.machine.hello_timeout_max_ms, 10u, 600'000u);
  settings.number("hello.duplicate_refusals_max", config.machine.duplicate_refusals_max, 0u);
  settings.number<std::uint64_t>("limits.model_mib_max", unread.model_mib_max, 1, 1u << 20);
  settings.text("codec.device", unread.codec_device);
  settings.flag("audit", config.audit);
  settings.text("trainer.name", config.trainer);
  settings.number("trainer.train_ms", config.training.train_ms, 0u, 3'600'000u);
  settings.flag("trainer.ahead", config.machine.train_ahead);
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

// A setting beside the join file takes precedence over it, so that an agent can use another path to
// its coordinator. The key always comes from the join file.
Status take_join_file(const Settings& settings, AgentSettings& config) {
  if (config.join_file.empty()) return {};
  if (!config.key_file.empty()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting link.key_file",
                   .expected = "a key file or a join file, not both",
                   .got = "both",
                   .remedy = "the join file holds a key pair: leave link.key_file out"});
  }
  TRIBUTARY_ASSIGN(JoinFile join, read_join_file(config.join_file));
  if (!settings.given("agent_id")) config.machine.agent_id = join.agent_id;
  if (!settings.given("link.coordinator")) config.coordinator = join.coordinator;
  if (!settings.given("link.coordinator_key")) {
    config.coordinator_key = key_text(join.coordinator_key);
  }
  config.keys = std::move(join.keys);
  return {};
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

// Checks that need several settings. Each error names the one to change.
Status check_together(const Settings& settings, AgentSettings& config) {
  if (config.machine.agent_id.empty()) {
    return settings.missing(
        "agent_id", "the id under which the coordinator allows this agent; a join file has it");
  }
  TRIBUTARY_TRY(config.journal.settle(settings, "model and residual"));
  if (config.coordinator.empty()) {
    return settings.missing("link.coordinator", "for example tcp://coordinator.lan:4640");
  }
  TRIBUTARY_TRY(check_agent_id(config.machine.agent_id).at("setting agent_id"));
  if (!config.coordinator.starts_with("ipc://")) {
    TRIBUTARY_TRY(check_dialled_endpoint(config.coordinator).at("setting link.coordinator"));
  }
  if (config.encrypted && config.key_file.empty() && !config.keys) {
    return settings.missing("link.join_file",
                            "'tributary keys join' makes one where the coordinator runs");
  }
  if (config.encrypted) {
    TRIBUTARY_TRY(
        parse_public_key(config.coordinator_key).status().at("setting link.coordinator_key"));
  }
  TRIBUTARY_TRY(check_peers(settings, config));
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

// Announces to the coordinator what this build supports. Without an endpoint for peers, an agent
// can only use the star.
void set_capabilities(bool peers, wire::CapabilitiesT& capabilities) {
  for (const CodecFamily& family : codec_families()) {
    auto offer = std::make_unique<wire::CodecOfferT>();
    offer->spec = family.name;
    capabilities.codecs.push_back(std::move(offer));
  }
  capabilities.collectives = {wire::Collective::star};
  if (peers) capabilities.collectives.assign(kCollectives.begin(), kCollectives.end());
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
  if (!flags.join.empty()) config.join_file = flags.join;
  TRIBUTARY_TRY(take_join_file(settings, config));
  config.machine.model_bytes_max = unread.model_mib_max << 20;
  TRIBUTARY_ASSIGN(config.peers_transport, peer_transport(unread.peers_transport));
  TRIBUTARY_ASSIGN(config.codec_device, device_setting(unread.codec_device));
  config.machine.build = build_version();
  config.training.agent_id = config.machine.agent_id;
  config.exit_when_done = flags.exit_when_done;
  const std::size_t processors = hardware_threads();
  config.common.settle_threads(processors, training_threads(config, processors));
  const bool peers = config.peers_transport == PeerTransport::mpi || !config.peers_endpoint.empty();
  set_capabilities(peers, config.machine.capabilities);
  TRIBUTARY_TRY(check_together(settings, config));
  return config;
}

}  // namespace tributary
