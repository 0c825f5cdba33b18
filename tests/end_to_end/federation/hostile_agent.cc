#include "tests/end_to_end/federation/hostile_agent.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <variant>

#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/codec/payload.h"
#include "core/codec/registry.h"
#include "core/net/zmq/spoke.h"
#include "core/service/metrics/metrics.h"
#include "core/service/metrics/note_log.h"
#include "core/train/synthetic_trainer.h"
#include "schemas/payload.h"
#include "tests/end_to_end/federation/guest.h"

namespace tributary::end_to_end {
namespace {

class NoLog final : public Log {
 public:
  bool enabled(LogLevel) const override { return false; }
  void write(const LogEvent&) override {}
};

std::uint16_t half_of(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7e00;
  if (std::isinf(value)) return sign | 0x7c00;
  return std::abs(value) > 1 ? sign | 0x7bff : sign | 1;
}

// The payload with the value in its first number: a value, a scale or a norm, as the codec has it.
// Empty if its body has no place for a number.
Bytes with_number(ByteSpan payload, const Codec& codec, float value) {
  Bytes bytes(payload.begin(), payload.end());
  const Result<OpenPayload> open = open_payload({}, payload);
  EXPECT_TRUE(open.ok()) << open.status().text();
  const std::string family = codec.spec().substr(0, codec.spec().find(':'));
  // A body of selected values begins with their number.
  const bool counted = family == "topk" || family == "dgc" || family == "threshold";
  const std::size_t at = counted ? sizeof(std::uint32_t) : 0;
  if (!open.ok() || open->body.size() < at + sizeof(value)) return {};
  const PayloadHeader header = open->header;
  if (codec.carries_not_finite()) {
    // The body is compressed, so it is made anew.
    FloatVector values(header.values, 0.25f);
    values[header.values / 2] = value;
    const Status status = codec.make_encoder(header.values)->encode({.round = {}}, values, bytes);
    EXPECT_TRUE(status.ok()) << status.text();
    return bytes;
  }
  std::uint8_t* const body = bytes.data() + (payload.size() - open->body.size());
  if (family == "fp16" || family == "bf16") {
    const auto word = family == "fp16"
                          ? half_of(value)
                          : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    std::memcpy(body, &word, sizeof(word));
  } else {
    std::memcpy(body + at, &value, sizeof(value));
  }
  seal_payload({}, bytes);
  return bytes;
}

}  // namespace

HostileAgent::HostileAgent(const Federation& federation, std::uint32_t agent,
                           HostileOptions options)
    : options_(std::move(options)) {
  const std::string agent_id = Federation::agent_id(agent);
  const Result<KeyPair> keys = read_key_pair(federation.path(agent_id + ".key"));
  EXPECT_TRUE(keys.ok()) << keys.status().text();
  link_ = *open_spoke({.endpoint = federation.endpoint(),
                       .keys = *keys,
                       .hub = federation.keys_of_coordinator().public_key});
  machine_ = *Agent::make({.agent_id = agent_id, .incarnation = 4711, .capabilities = {}}, {});
  thread_ = std::thread([this, agent_id] { run(agent_id); });
}

HostileAgent::~HostileAgent() {
  stop_ = true;
  thread_.join();
}

void HostileAgent::run(std::string agent_id) {
  const SystemClock clock;
  NoLog log;
  const std::unique_ptr<Metrics> metrics = *open_metrics({});
  NoteLog notes(log, clock, *metrics);
  LoopParts parts = {[this](TimeNs now, Event event) { return handle(now, std::move(event)); },
                     [this] { return machine_->next_wakeup_ns(); },
                     [&](Action& action) { perform(action, agent_id); },
                     nullptr,
                     true,
                     *link_,
                     clock,
                     notes};
  MachineLoop loop(std::move(parts));
  loop_ = &loop;
  while (!stop_) {
    const Result<bool> turned = loop.turn(loop.now() + 20 * kNsPerMs);
    EXPECT_TRUE(turned.ok()) << turned.status().text();
    if (!turned.ok()) return;
  }
}

Actions HostileAgent::handle(TimeNs now, Event event) {
  if (const auto* received = std::get_if<FrameReceived>(&event)) {
    const Result<const wire::Frame*> frame = open_frame(received->frame);
    const wire::Abort* const abort = frame.ok() ? (*frame)->message_as_Abort() : nullptr;
    if (abort != nullptr && abort->excludes()) ++excluded_;
  }
  Actions actions = machine_->handle(now, std::move(event));
  for (Action& action : actions) {
    if (auto* send = std::get_if<Send>(&action)) replace(*send);
  }
  return actions;
}

void HostileAgent::replace(Send& send) {
  wire::FrameT frame;
  wire::GetFrame(send.frame.data())->UnPackTo(&frame);
  wire::PartT* part = nullptr;
  if (wire::UpdateT* const update = frame.message.AsUpdate()) part = update->part.get();
  if (wire::PreliminaryT* const first = frame.message.AsPreliminary()) part = first->part.get();
  if (part == nullptr || part->bucket != 0) return;
  if (part->id->round() < options_.first_round || part->id->round() > options_.last_round) return;
  const std::unique_ptr<Codec> codec = *make_codec(options_.codec);
  // The first stage with numbers has the value: places are no numbers, and later stages have
  // levels.
  const AttemptStage stage = {key_of(*part->id), part->stage};
  if (codec->stages()[part->stage].combine == Combine::broadcast) return;
  if (stage.attempt == replaced_in_.attempt && stage.number != replaced_in_.number) return;
  if (send.payload.bytes.empty() || part->stage_bytes != send.payload.bytes.size()) return;
  auto bytes =
      std::make_shared<const Bytes>(with_number(send.payload.bytes, *codec, options_.value));
  if (bytes->empty()) return;
  replaced_in_ = stage;
  part->stage_bytes = bytes->size();
  part->payload_bytes = static_cast<std::uint32_t>(bytes->size());
  part->payload_checksum = claim_for(*bytes).checksum;
  const Result<Bytes> built = build_frame(frame);
  EXPECT_TRUE(built.ok()) << built.status().text();
  send.frame = *built;
  send.payload = {.owner = bytes, .bytes = *bytes};
  ++replaced_;
}

void HostileAgent::perform(Action& action, const std::string& agent_id) {
  if (const auto* record = std::get_if<StoreAgent>(&action)) {
    loop_->post(Stored{.token = record->token, .status = {}});
  } else if (const auto* order = std::get_if<Train>(&action)) {
    auto update = std::make_shared<FloatVector>(order->model->size());
    fill_synthetic_update(order->seed, agent_id, order->id.round, *update);
    loop_->post(UpdateReady{.token = order->token, .update = std::move(update), .examples = 1});
  }
}

}  // namespace tributary::end_to_end
