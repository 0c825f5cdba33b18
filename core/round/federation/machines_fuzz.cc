// A coordinator and two agents whose messages are lost, repeated, reordered, changed and mixed with
// noise. Rounds use the star, an exchange between the two agents, or a planner's decision with a
// share per agent. Required: no crash, a bounded number of actions per event, and memory within a
// fixed limit.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "core/base/bytes/checksum.h"
#include "core/round/agent/agent.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/session/conversation.h"
#include "core/round/coordinator/coordinator.h"

namespace {

using namespace tributary;

constexpr std::uint64_t kBufferedMax = 8u << 20;
constexpr std::size_t kActionsMax = 2'000;
constexpr std::size_t kUnderWayMax = 512;
constexpr std::uint8_t kPlannedBit = 0x80;  // a bit of the first byte of the input
// Codecs with a share per agent, and one without.
constexpr std::array<const char*, 4> kAdvisedCodecs = {"topk:cr=0.1", "threshold:keep=0.2",
                                                       "mstopk:cr=0.1", "fp32"};

void require(bool holds) {
  if (!holds) std::abort();
}

// Reads the fuzzer's input; reads zeros after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  std::uint8_t next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::size_t number() {
    const std::size_t low = next();
    return low | (static_cast<std::size_t>(next()) << 8);
  }
  Bytes rest(std::size_t most) {
    const std::size_t count = std::min(most, size_);
    Bytes bytes(data_, data_ + count);
    data_ += count;
    size_ -= count;
    return bytes;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

SubmitJob small_job(wire::Collective collective, bool planned) {
  SubmitJob submit;
  const Result<LayerMap> map = LayerMap::make({{.name = "v", .shape = {100}}});
  wire::JobT& job = submit.definition;
  job.name = "fuzz";
  job.seed = 1;
  job.mode = wire::ExchangeMode::delta;
  job.rounds = 1'000;
  job.weighting = wire::Weighting::equal;
  job.model = std::make_unique<wire::ModelT>();
  job.model->kind = wire::ModelKind::built_in;
  job.model->name = "none";
  job.optimizer = std::make_unique<wire::OptimizerT>();
  job.optimizer->kind = wire::OptimizerKind::sgd;
  job.layer_map = wire_layers(*map);
  submit.policy.codecs = {"thc", "topk:cr=0.1", "threelc", "fp32"};
  if (planned) submit.policy.planning.goal = wire::PlanGoal::adaptive;
  submit.policy.collective = collective;
  submit.policy.bucket_values_max = collective == wire::Collective::star ? 64 : 32;
  submit.policy.deadline_ms = 300;
  submit.policy.preliminary_deadline_ms = 200;
  submit.model = std::make_shared<const FloatVector>(100, 0.0f);
  return submit;
}

// The three machines and the messages in flight. Limits are small, so that a short input reaches
// them.
class MachinesUnderTest {
 public:
  MachinesUnderTest(wire::Collective collective, bool planned) {
    CoordinatorConfig config;
    config.heartbeat_interval_ms = 200;
    config.heartbeat_timeout_ms = 1'000;
    config.ack_timeout_ms = 20;
    config.payload_bytes_max = 128;
    config.incoming_bytes_max = 1'024;
    config.outgoing_bytes_max = 1'024;
    coordinator_ = std::move(*Coordinator::make(config, {}));
    for (std::size_t i = 0; i < 2; ++i) {
      AgentConfig agent;
      agent.agent_id = i == 0 ? "a" : "b";
      agent.incarnation = i + 1;
      agent.endpoints = {i == 0 ? "a" : "b"};
      agents_.push_back(std::move(*Agent::make(agent, {})));
    }
    feed_coordinator(small_job(collective, planned));
    for (std::size_t i = 0; i < 2; ++i) feed_agent(i, Tick{});
  }

  void play(Input& input) {
    const std::uint8_t what = input.next();
    if (what < 8 || under_way_.empty()) return pass_time(what, input);
    // Delivers mostly in order, so that rounds can complete.
    const std::size_t place = what % 16 == 15 ? input.number() % under_way_.size() : 0;
    Message message = under_way_[place];
    if (what % 16 != 14) under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(place));
    if (what >= 0xf0) return lose(message);
    if (what >= 0xe0) message.frame = input.rest(input.next());
    if (what >= 0xc0 && what < 0xe0) change(input, message.frame);
    if (what >= 0xb0 && what < 0xc0) change(input, message.payload);
    deliver(message);
  }

  void check() const {
    require(coordinator_->buffered_bytes() < kBufferedMax);
    for (const auto& agent : agents_) require(agent->buffered_bytes() < kBufferedMax);
  }

 private:
  struct Message {
    bool up = false;
    std::size_t agent = 0;  // the sender if `up`, otherwise the receiver
    // Peer session of a message from a peer; 0: from or to the coordinator.
    std::uint64_t peers = 0;
    Bytes frame;
    Bytes payload;
  };

  void lose(const Message& message) {
    if (message.peers == 0) return;
    feed_agent(message.agent, PeerLost{.session = message.peers,
                                       .member = static_cast<std::uint32_t>(1 - message.agent),
                                       .why = Status(StatusCode::unavailable, {.what = "peer"})});
  }

  static void change(Input& input, Bytes& bytes) {
    for (int times = 1 + input.next() % 4; times > 0 && !bytes.empty(); --times) {
      bytes[input.number() % bytes.size()] = input.next();
    }
  }

  void pass_time(std::uint8_t what, Input& input) {
    now_ += (what + 1) * 10 * kNsPerMs;
    feed_coordinator(Tick{});
    for (std::size_t i = 0; i < agents_.size(); ++i) feed_agent(i, Tick{});
    if (what == 7) measure_links();
    if (what == 6 && job_ != 0) advise(input);
  }

  // Includes decisions that must be refused: a share above the codec's, an unknown agent, peers.
  void advise(Input& input) {
    auto advice = std::make_shared<PlanAdvice>();
    const std::uint8_t choice = input.next();
    advice->choice = {.codec = kAdvisedCodecs[choice % kAdvisedCodecs.size()],
                      .collective = choice < 0xf0 ? wire::Collective::star : wire::Collective::ring,
                      .bucket_values_max = 64};
    for (const char* id : {"a", "b", "nobody"}) {
      if (const std::uint8_t drawn = input.next(); drawn != 0) advice->ratios[id] = drawn / 2'000.0;
    }
    advice->trigger = choice % 16 == 15 ? wire::Trigger::unspecified : wire::Trigger::link_changed;
    feed_coordinator(PlanAdvised{.job = job_, .advice = std::move(advice)});
  }

  // Each agent receives its own share only.
  static void check_shares_in(ByteSpan bytes) {
    const Result<const wire::Frame*> frame = open_frame(bytes);
    const wire::Plan* const plan = frame.ok() ? (*frame)->message_as_Plan() : nullptr;
    if (!plan) return;
    for (const wire::Exchange* exchange : *plan->exchanges()) {
      require(!exchange->ratios() && exchange->ratio() > 0 && exchange->ratio() <= 1);
    }
  }

  void measure_links() {
    feed_coordinator(ProbeLink{
        .agent_id = "a", .probe = 1, .parts = 2, .padding_bytes = 64, .echo_padding_bytes = 64});
    ReportLinks report;
    report.links.emplace_back().from = "a";
    report.links.back().method = wire::LinkMethod::passive;
    feed_agent(1, report);
    ReportSpeeds speeds;
    speeds.codecs.emplace_back().spec = "fp32";
    speeds.codecs.back().encode_bytes_per_s = speeds.codecs.back().decode_bytes_per_s = 1e9;
    feed_agent(1, speeds);
  }

  void deliver(const Message& message) {
    if (message.peers != 0) {
      return feed_agent(message.agent,
                        PeerFrameReceived{.session = message.peers,
                                          .from = static_cast<std::uint32_t>(1 - message.agent),
                                          .frame = message.frame,
                                          .payload = SharedSlice(message.payload)});
    }
    const FrameReceived event{.peer = message.agent,
                              .frame = message.frame,
                              .payload = message.payload,
                              .authenticated_as = {}};
    message.up ? feed_coordinator(event) : feed_agent(message.agent, event);
  }

  void send_to_peer(std::size_t agent, SendToPeer& send) {
    if (under_way_.size() >= kUnderWayMax || send.member != 1 - agent) return;
    const ByteSpan payload = send.payload.view();
    under_way_.push_back({.agent = send.member,
                          .peers = peers_[agent],
                          .frame = std::move(send.frame),
                          .payload = Bytes(payload.begin(), payload.end())});
  }

  void send(bool up, std::size_t agent, Send& send) {
    if (under_way_.size() >= kUnderWayMax || agent >= agents_.size()) return;
    under_way_.push_back({.up = up,
                          .agent = agent,
                          .frame = std::move(send.frame),
                          .payload = Bytes(send.payload.bytes.begin(), send.payload.bytes.end())});
  }

  void feed_coordinator(const Event& event) {
    Actions actions = coordinator_->handle(now_, event);
    require(actions.size() < kActionsMax);
    for (Action& action : actions) {
      if (const auto* played = std::get_if<RoundPlayed>(&action)) job_ = played->job;
      if (auto* one = std::get_if<Send>(&action)) {
        if (job_ != 0) check_shares_in(one->frame);
        send(false, one->peer, *one);
      }
      if (const auto* store = std::get_if<StoreCoordinator>(&action)) {
        feed_coordinator(Stored{.token = store->token, .status = {}});
      }
      if (const auto* load = std::get_if<LoadRound>(&action)) {
        feed_coordinator(RoundLoaded{.token = load->token, .round = {}, .epoch = {}});
      }
    }
  }

  void feed_agent(std::size_t i, const Event& event) {
    Actions actions = agents_[i]->handle(now_, event);
    require(actions.size() < kActionsMax);
    for (Action& action : actions) {
      if (auto* one = std::get_if<Send>(&action)) send(true, i, *one);
      if (auto* one = std::get_if<SendToPeer>(&action)) send_to_peer(i, *one);
      if (const auto* open = std::get_if<OpenPeers>(&action)) peers_[i] = open->session;
      if (const auto* store = std::get_if<StoreAgent>(&action)) {
        feed_agent(i, Stored{.token = store->token, .status = {}});
      }
      if (const auto* train = std::get_if<Train>(&action)) {
        feed_agent(
            i, UpdateReady{.token = train->token,
                           .update = std::make_shared<FloatVector>(train->model->size(), 0.25f)});
      }
    }
  }

  TimeNs now_ = 0;
  std::uint64_t job_ = 0;  // the job to advise, once one of its rounds was played
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::array<std::uint64_t, 2> peers_ = {};
  std::deque<Message> under_way_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Longer inputs only take longer.
  constexpr std::size_t kInputMax = 2'000;
  Input input(data, std::min(size, kInputMax));
  constexpr auto kCollectives = static_cast<std::uint8_t>(wire::Collective::all_gather);
  const std::uint8_t first = input.next();
  MachinesUnderTest machines(static_cast<wire::Collective>(1 + first % kPlannedBit % kCollectives),
                             first >= kPlannedBit);
  while (!input.empty()) {
    machines.play(input);
    machines.check();
  }
  return 0;
}
