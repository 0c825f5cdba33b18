#include "cli/demo/demo_federation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <system_error>
#include <utility>

#include "core/base/files/file.h"
#include "core/data/drawn/make.h"
#include "core/net/access/allow_list.h"
#include "core/net/udp/udp_port.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Some processes may end this long before the others. See ended().
constexpr seconds kEndTogether{30};

// This file marks a folder as created by a demonstration, so that it may be emptied.
constexpr std::string_view kMarker = "demo.txt";
// Name of the folder with the pictures.
constexpr std::string_view kData = "digits";

// Templates of the settings files. Journals are not synced: a power cut may cost a demonstration,
// but syncing would slow it down.
constexpr std::string_view kCoordinatorSettings = R"(# Written by tributary demo.
federation = "demo"

[journal]
file = "{folder}/run.db"
durability = "stop"              # nothing here is to survive a power cut

[link]
endpoint = "tcp://127.0.0.1:*"
key_file = "{folder}/coordinator.key"
allow_file = "{folder}/agents.allow"

[evaluation]
path = "{folder}/digits"
threads = 1

[job]
name = "digits"
rounds = {rounds}
model = "{model}"
input = "1x28x28"
classes = 10
mode = "delta"
local_steps = {local_steps}
batch_size = 32
optimizer = "momentum"
learning_rate = 0.05
schedule = "cosine:warmup=3,floor=0.02"
weighting = "examples"
collective = "{collective}"
bucket_values = {bucket_values}
evaluate_every = 4
agents_min = {agents}
seed = {seed}
{codec})";

// Short intervals, so that a changed link is measured within seconds.
constexpr std::string_view kPlannedSettings = R"(planning = "adaptive"

[probes]
quiet_ms = 500
spacing_ms = 1000
)";

constexpr std::string_view kAgentSettings = R"(# Written by tributary demo.
agent_id = "{id}"
audit = true                     # adds up every update, beside the state machine

[journal]
file = "{folder}/{id}.db"
durability = "stop"

[link]
coordinator = "{endpoint}"
coordinator_key = '{coordinator_key}'
key_file = "{folder}/{id}.key"
shape_trace = "{folder}/{id}.trace"
shape_burst_bytes = 2048

[trainer]
name = "torch"
threads = 1

[data]
path = "{folder}/digits"
shard = {shard}
shards = {shards}
skew = {skew}
evaluate = false                 # the coordinator does
)";

constexpr std::string_view kPeerSettings = R"(
[peers]
endpoint = "tcp://127.0.0.1:0"
shape_trace = "{folder}/{id}.peers.trace"
)";

constexpr std::string_view kInNetworkSettings = R"(
[in_network]
listen = "127.0.0.1:0"
)";

// The content of docs/traces/c1_short.csv, because an installed program does not have that file.
constexpr std::string_view kC1Short = R"(seconds, mbit_per_s, delay_ms, loss_percent
14, 12.5,  1, 0
14,  0.5,  1, 0
14,  0.5, 50, 0
16, 12.5, 50, 0
)";

// The links between agents: a radio network of medium speed that does not change.
constexpr std::string_view kSiteNetwork = R"(seconds, mbit_per_s, delay_ms, loss_percent
3600, 8, 2, 0
)";

// Identifier of the aggregator.
constexpr std::string_view kGateway = "gateway";

// Agents are numbered from 1 for people, from 0 in code.
std::string id_of(std::uint32_t agent) { return fmt::format("agent-{}", agent + 1); }

// A link in motion: good, fair, bad and back.
LinkTrace usual_trace() {
  const auto step = [](int lasts_s, double mbit_per_s, int delay_ms, double loss) {
    return TraceStep{.lasts = seconds(lasts_s),
                     .bytes_per_s = static_cast<std::uint64_t>(mbit_per_s * 1e6 / 8),
                     .delay = milliseconds(delay_ms),
                     .loss = loss};
  };
  return LinkTrace::make({step(12, 40, 5, 0), step(8, 12, 15, 0), step(6, 3, 40, 0.002),
                          step(4, 1.5, 60, 0.005), step(8, 8, 20, 0)})
      .value();
}

// Returns the trace as text, rotated to begin at `first_step`.
std::string trace_text(const LinkTrace& trace, std::size_t first_step) {
  std::string text = "seconds, mbit_per_s, delay_ms, loss_percent\n";
  const std::size_t steps = trace.steps().size();
  for (std::size_t i = 0; i < steps; ++i) {
    const TraceStep& step = trace.steps()[(i + first_step) % steps];
    text +=
        fmt::format("{}, {}, {}, {}\n", std::chrono::duration<double>(step.lasts).count(),
                    static_cast<double>(step.bytes_per_s) * 8 / 1e6,
                    std::chrono::duration<double, std::milli>(step.delay).count(), step.loss * 100);
  }
  return text;
}

Status write_text(const fs::path& path, std::string_view text) {
  return write_file_atomically(path.string(), bytes_of(text));
}

// An error of the folder or its files.
Status trouble(std::string what, std::string expected, std::string got, std::string remedy) {
  return Status(StatusCode::io_error, {.what = std::move(what),
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = std::move(remedy)});
}

}  // namespace

std::string DemoFederation::agent_file(std::uint32_t agent) const {
  return path(id_of(agent) + ".db");
}

Result<std::unique_ptr<DemoFederation>> DemoFederation::prepare(const DemoPlan& plan,
                                                                const Progress& progress) {
  std::unique_ptr<DemoFederation> made(new DemoFederation(plan));
  TRIBUTARY_TRY(made->make_folder());
  TRIBUTARY_TRY(made->draw_digits(progress));
  TRIBUTARY_TRY(made->write_keys());
  TRIBUTARY_TRY(made->write_coordinator_settings());
  return made;
}

Status DemoFederation::make_folder() {
  std::error_code error;
  if (fs::exists(folder_, error)) {
    if (!fs::exists(folder_ / kMarker, error)) {
      return Status(StatusCode::already_exists,
                    {.what = fmt::format("folder '{}'", folder_.string()),
                     .expected = "no folder, or one of an earlier demonstration",
                     .got = "a folder without " + std::string(kMarker),
                     .remedy = "choose another folder with --out"});
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
      // The pictures are kept, because drawing them takes longest.
      if (entry.path().filename() != kData) fs::remove_all(entry.path(), error);
    }
  }
  fs::create_directories(folder_, error);
  if (error) {
    return trouble(fmt::format("folder '{}'", folder_.string()), "a new one", error.message(),
                   "choose another folder with --out");
  }
  return write_text(
      folder_ / kMarker,
      "Created by tributary demo, which replaces the content of this folder each time.\n");
}

// The same seed draws the same pictures, so those of an earlier demonstration are reused.
Status DemoFederation::draw_digits(const Progress& progress) {
  const fs::path folder = folder_ / kData;
  // The stamp is written last, so that an interrupted drawing is repeated.
  const std::string stamp = fmt::format("{} pictures\n", plan_.pictures);
  const Result<Bytes> known = read_file((folder / kMarker).string(), 100);
  if (known.ok() && std::ranges::equal(*known, bytes_of(stamp))) return {};
  TRIBUTARY_TRY(make_data({.kind = DrawnKind::digits,
                           .folder = folder.string(),
                           .count = plan_.pictures,
                           .test_count = std::max<std::uint64_t>(plan_.pictures / 5, 1),
                           .progress =
                               [&](std::uint64_t done, std::uint64_t total) {
                                 return progress("generating digits", done, total);
                               }})
                    .status());
  return write_text(folder / kMarker, stamp);
}

// Real keys and a real allow-list: encryption is on in a demonstration too.
Status DemoFederation::write_keys() {
  TRIBUTARY_ASSIGN(const KeyPair own, make_key_pair());
  TRIBUTARY_TRY(write_key_pair(path("coordinator.key"), own));
  coordinator_key_ = key_text(own.public_key);
  std::vector<std::string> ids;
  for (std::uint32_t i = 0; i < plan_.agents; ++i) ids.push_back(id_of(i));
  if (plan_.in_network()) ids.emplace_back(kGateway);
  std::string allowed;
  for (const std::string& id : ids) {
    TRIBUTARY_ASSIGN(const KeyPair keys, make_key_pair());
    TRIBUTARY_TRY(write_key_pair(path(id + ".key"), keys));
    allowed += fmt::format("{} {}\n", id, key_text(keys.public_key));
  }
  return write_text(folder_ / "agents.allow", allowed);
}

Status DemoFederation::write_coordinator_settings() const {
  const std::string codec =
      plan_.codec().empty() ? "" : fmt::format("codec = \"{}\"\n", plan_.codec());
  std::string settings = fmt::format(
      kCoordinatorSettings, fmt::arg("folder", folder_.string()),
      fmt::arg("rounds", plan_.rounds()), fmt::arg("model", plan_.model), fmt::arg("codec", codec),
      fmt::arg("collective", wire::EnumNameCollective(plan_.collective())),
      // With a planner rounds are shorter and more numerous.
      fmt::arg("local_steps", plan_.adaptive() ? 4 : 16),
      fmt::arg("bucket_values", plan_.adaptive() ? 8192 : 16384), fmt::arg("agents", plan_.agents),
      fmt::arg("seed", plan_.seed));
  if (plan_.adaptive()) settings += kPlannedSettings;
  return write_text(folder_ / "coordinator.toml", settings);
}

Status DemoFederation::write_agent_settings(std::uint32_t agent) const {
  std::string settings = fmt::format(kAgentSettings, fmt::arg("folder", folder_.string()),
                                     fmt::arg("id", id_of(agent)), fmt::arg("endpoint", endpoint_),
                                     fmt::arg("coordinator_key", coordinator_key_),
                                     fmt::arg("shard", agent), fmt::arg("shards", plan_.agents),
                                     fmt::arg("skew", fmt::format("{:.6f}", plan_.skew)));
  if (plan_.peers()) {
    settings += fmt::format(kPeerSettings, fmt::arg("folder", folder_.string()),
                            fmt::arg("id", id_of(agent)));
  }
  if (plan_.in_network()) settings += kInNetworkSettings;
  TRIBUTARY_TRY(write_traces(agent));
  return write_text(folder_ / (id_of(agent) + ".toml"), settings);
}

// With fixed planning each agent's trace begins at another step, so that the links are not good or
// bad all at once. A planner decides by the slowest link; for it all agents share one site whose
// uplink changes.
Status DemoFederation::write_traces(std::uint32_t agent) const {
  const LinkTrace trace = plan_.trace        ? *plan_.trace
                          : plan_.adaptive() ? LinkTrace::parse(kC1Short).value()
                                             : usual_trace();
  TRIBUTARY_TRY(write_text(folder_ / (id_of(agent) + ".trace"),
                           trace_text(trace, plan_.adaptive() ? 0 : agent)));
  return write_text(folder_ / (id_of(agent) + ".peers.trace"), kSiteNetwork);
}

Status DemoFederation::start() {
  TRIBUTARY_TRY(start_coordinator());
  if (plan_.in_network()) TRIBUTARY_TRY(start_aggregator());
  for (std::uint32_t i = 0; i < plan_.agents; ++i) {
    TRIBUTARY_TRY(write_agent_settings(i));
    TRIBUTARY_ASSIGN(agents_.emplace_back(),
                     ChildProcess::start({find_own_program("edge_agent", "tributary-agent"),
                                          "--config", path(id_of(i) + ".toml"), "--exit-when-done"},
                                         path(id_of(i) + ".log")));
  }
  return {};
}

Status DemoFederation::start_coordinator() {
  std::vector<std::string> command = {find_own_program("coordinator", "tributary-coordinator"),
                                      "--config", path("coordinator.toml"), "--exit-when-done"};
  for (const std::string& setting : plan_.settings) {
    command.emplace_back("--set");
    command.push_back(setting);
  }
  TRIBUTARY_ASSIGN(coordinator_, ChildProcess::start(command, path("coordinator.log")));
  TRIBUTARY_ASSIGN(endpoint_, wait_for_endpoint(*coordinator_));
  return {};
}

// If it ends early, the rounds go by the star.
Status DemoFederation::start_aggregator() {
  // A free port. It is closed again, and the program opens it.
  UdpAddress address;
  {
    TRIBUTARY_ASSIGN(const std::unique_ptr<UdpPort> port,
                     UdpPort::open({.listen = {.ip = 0x7f000001}}));
    address = port->address();
  }
  std::vector<std::string> command = {find_own_program("switch_p4/switchd", "tributary-switchd")};
  for (const std::string& setting :
       {fmt::format("agent_id={}", kGateway), "switch.listen=" + address.text(),
        "switch.state=" + path("gateway.epochs"), "link.coordinator=" + endpoint_,
        "link.coordinator_key=" + coordinator_key_, "link.key_file=" + path("gateway.key")}) {
    command.emplace_back("--set");
    command.push_back(setting);
  }
  TRIBUTARY_ASSIGN(aggregator_, ChildProcess::start(command, path("gateway.log")));
  return {};
}

Result<bool> DemoFederation::ended() {
  std::vector<ChildProcess*> children = {coordinator_.get()};
  for (const auto& agent : agents_) children.push_back(agent.get());
  std::size_t gone = 0;
  for (ChildProcess* child : children) {
    const std::optional<int> code = child->exit_code();
    if (code && *code != 0) return child->check_running();
    if (code) ++gone;
  }
  if (gone == children.size()) return true;
  // If a process was stopped from outside, it ends regularly, and the others would wait for it
  // forever.
  const auto now = std::chrono::steady_clock::now();
  if (gone > 0 && !first_ended_at_) first_ended_at_ = now;
  if (!first_ended_at_ || now - *first_ended_at_ < kEndTogether) return false;
  return Status(StatusCode::unavailable,
                {.what = "demonstration",
                 .expected = "coordinator and agents to end together",
                 .got = fmt::format("{} of {} ended {} s before the others", gone, children.size(),
                                    seconds(kEndTogether).count()),
                 .remedy = "start it again and do not stop its processes"});
}

void DemoFederation::remove_folder() {
  coordinator_.reset();
  aggregator_.reset();
  agents_.clear();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace tributary
