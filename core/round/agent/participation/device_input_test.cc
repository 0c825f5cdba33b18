// Tests of updates that stay on the device that encodes. Invariant: what the agent stores and what
// is left to it are the same as with updates in host memory, also if the device fails.
#include "core/round/agent/participation/device_input.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/round/agent/participation/participation.h"
#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using emulated::Operation;
using round_testing::AgentParts;
using round_testing::kSmallValues;

// Values of which every codec loses a part.
FloatVector update_of(std::uint64_t round) {
  FloatVector values(kSmallValues);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>((i * 37 + round * 11) % 101) / 7.0f - 5;
  }
  return values;
}

AgentConfig config_of(CodecDevice* device, bool in_background) {
  AgentConfig config = AgentParts::config(device);
  config.encodes_in_background = in_background;
  config.encoded_values_at_once = 1;
  return config;
}

// An agent that encodes on an emulated device, and whose updates are there or in host memory.
class Side {
 public:
  Side(std::string codec, bool on_device, bool in_background = false)
      : codec_(std::move(codec)),
        on_device_(on_device),
        agent_(config_of(device_.get(), in_background)) {
    device_->report_errors_to([this](const Status& error) { errors_.push_back(error); });
    agent_.have_model();
    agent_.open_session();
    updates_.begin_job(kSmallValues);
  }

  // Returns false if the agent did not train.
  bool train(std::uint64_t round, std::uint32_t attempt = 0) {
    wire::PlanT plan = agent_.plan(round, {.codec = codec_, .attempt = attempt});
    plan.payloads_in_flight_max = 2;
    auto made = RoundPlan::make(plan, *agent_.replica.job(), agent_.codecs);
    EXPECT_TRUE(made.ok()) << made.status().text();
    round_ = std::make_unique<AgentRound>(*made);
    round_->take_part_as(0);
    participation_.begin(*round_);
    Token token = 0;
    Actions actions = agent_.take();
    for (const Action& action : actions) {
      if (const auto* train = std::get_if<Train>(&action)) token = train->token;
    }
    perform(actions);
    if (token == 0) return go_on();
    UpdateReady ready = {.token = token, .update = nullptr};
    const FloatVector update = update_of(round);
    if (on_device_) {
      // Any memory of the process is that of the emulated device.
      auto copy = device_->vectors()->copy_of(update);
      EXPECT_TRUE(copy.ok()) << copy.status().text();
      ready.on_device = *copy;
    } else {
      ready.update = std::make_shared<FloatVector>(update);
    }
    before_taking();
    participation_.take(ready);
    go_on();
    return true;
  }
  std::function<void()> before_taking = [] {};
  // Does the background work, or leaves it until the agent needs it.
  bool does_background_work = true;
  int background_works = 0;

  // The residuals that the stored contributions would leave, by bucket.
  std::vector<FloatVector> stored() {
    std::vector<FloatVector> left;
    for (const AgentRecordToStore& record : agent_.store_all()) {
      for (const ContributionPart& part : std::get<ContributionRecord>(record).parts) {
        left.push_back(part.if_committed ? *part.if_committed : FloatVector());
      }
    }
    return left;
  }
  // Sends the payloads that wait, of one part each, and returns their bytes.
  std::vector<Bytes> sent() {
    go_on();
    std::vector<Bytes> payloads;
    for (const Send& send : std::exchange(sent_, {})) {
      if (send.has_payload) {
        payloads.emplace_back(send.payload.bytes.begin(), send.payload.bytes.end());
      }
    }
    BulkSender& bulk = agent_.session.conversation()->bulk();
    bulk.acknowledged(0, bulk.last_number());
    return payloads;
  }
  void commit(const Bitmap& counted) {
    updates_.residual().settle(round_->key(), counted);
    updates_.round_ended(counted.count() > 0);
    participation_.drop();
  }
  void close() { participation_.close(); }
  FloatVector residual() const {
    const SharedFloats values = updates_.residual().shared();
    return values ? *values : FloatVector();
  }
  bool stays_on_device() const { return updates_.stays_on_device(); }
  bool withdrawn() const { return round_->withdrawn(); }
  const std::vector<Status>& errors() const { return errors_; }

 private:
  // Encodes all buckets. Returns false.
  bool go_on() {
    while (participation_.busy()) participation_.go_on(true);
    Actions actions;
    do {
      participation_.go_on(false);
      actions = agent_.take();
      perform(actions);
    } while (!actions.empty());
    return false;
  }
  void perform(Actions& actions) {
    for (Action& action : actions) {
      if (const auto* order = std::get_if<RunInBackground>(&action)) {
        ++background_works;
        if (!does_background_work) continue;
        std::thread([&] { order->work->run(); }).join();
        participation_.contribution().take(BackgroundDone{.token = order->token});
      } else if (std::holds_alternative<Send>(action)) {
        sent_.push_back(std::move(std::get<Send>(action)));
      }
    }
  }

  const std::string codec_;
  const bool on_device_;
  std::vector<Send> sent_;
  std::vector<Status> errors_;
  const std::unique_ptr<CodecDevice> device_ = emulated::make_codec_device();
  AgentParts agent_;
  AgentPeers peers_{agent_.context, agent_.replica};
  LocalUpdates updates_;
  MissingAggregates missing_{agent_.context, agent_.session};
  Participation participation_{agent_.context,
                               {.session = agent_.session,
                                .replica = agent_.replica,
                                .peers = peers_,
                                .updates = updates_,
                                .missing = missing_}};
  std::unique_ptr<AgentRound> round_;
};

class UpdatesOnADevice : public testing::TestWithParam<const char*> {
 protected:
  ~UpdatesOnADevice() override {
    emulated::set_device_lost(false);
    for (const Operation operation : {Operation::allocation, Operation::launch, Operation::wait}) {
      emulated::fail_operation(operation, 0);
    }
  }
};

TEST_P(UpdatesOnADevice, LeaveTheResidualOfTheHost) {
  Side device(GetParam(), true);
  Side host(GetParam(), false);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    ASSERT_TRUE(device.train(round));
    ASSERT_TRUE(host.train(round));
    EXPECT_TRUE(device.stays_on_device());
    EXPECT_EQ(device.stored(), host.stored());
    EXPECT_TRUE(device.stays_on_device()) << "nothing has read it on the host";
    device.commit(Bitmap(2, true));
    host.commit(Bitmap(2, true));
    EXPECT_FALSE(device.stays_on_device());
    EXPECT_EQ(device.residual(), host.residual());
  }
  EXPECT_TRUE(device.errors().empty());
}

TEST_P(UpdatesOnADevice, AreKeptIfTheyDoNotCount) {
  Side device(GetParam(), true);
  Side host(GetParam(), false);
  Bitmap first(2);
  first.set(0);
  for (Side* side : {&device, &host}) {
    ASSERT_TRUE(side->train(1));
    side->stored();
    side->close();
    EXPECT_FALSE(side->train(1, 1)) << "the next attempt sends the same";
  }
  EXPECT_TRUE(device.stays_on_device());
  EXPECT_EQ(device.stored(), host.stored());
  for (Side* side : {&device, &host}) side->commit(first);
  EXPECT_EQ(device.residual(), host.residual()) << "of one bucket that counts";
}

// Each operation of a round fails once.
TEST_P(UpdatesOnADevice, AreNotLostByAFailure) {
  Side host(GetParam(), false);
  host.train(1);
  const auto expected = host.stored();
  for (const Operation operation : {Operation::allocation, Operation::launch, Operation::wait}) {
    std::uint64_t operations = 1;  // of the round; counted in the first one, in which none fails
    for (std::uint64_t n = 0; n <= operations; ++n) {
      Side device(GetParam(), true);
      std::uint64_t before = 0;
      device.before_taking = [&] {
        before = emulated::operations(operation);
        emulated::fail_operation(operation, n);
      };
      ASSERT_TRUE(device.train(1));
      if (n == 0) operations = emulated::operations(operation) - before;
      EXPECT_EQ(device.stored(), expected) << n;
      emulated::fail_operation(operation, 0);
      EXPECT_EQ(device.residual(), host.residual()) << n;
      EXPECT_EQ(device.errors().empty(), n == 0) << n;
    }
    EXPECT_GT(operations, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, UpdatesOnADevice, testing::Values("int8", "fp16", "threelc"));

class DeviceFaults : public UpdatesOnADevice {};

// The agent withdraws, its residual is that of the round before, and it trains again.
TEST_F(DeviceFaults, TakeTheUpdateWithThem) {
  for (const bool before : {true, false}) {
    Side device("int8", true);
    ASSERT_TRUE(device.train(1));
    device.stored();
    device.commit(Bitmap(2, true));
    const FloatVector residual = device.residual();
    if (before) device.before_taking = [] { emulated::set_device_lost(true); };
    ASSERT_TRUE(device.train(2));
    EXPECT_EQ(device.withdrawn(), before);
    device.stored();
    emulated::set_device_lost(true);
    device.close();
    EXPECT_EQ(device.residual(), residual);
    emulated::set_device_lost(false);
    device.before_taking = [] {};
    EXPECT_TRUE(device.train(3)) << "it trains again";
    EXPECT_FALSE(device.withdrawn());
  }
}

// Updates without a residual stay on the device beside it.
class UpdatesWithoutAResidual : public UpdatesOnADevice {};

TEST_P(UpdatesWithoutAResidual, AreSentAsThoseOfTheHost) {
  Side device(GetParam(), true);
  Side host(GetParam(), false);
  for (std::uint64_t round = 1; round <= 2; ++round) {
    for (Side* side : {&device, &host}) {
      ASSERT_TRUE(side->train(round));
      side->stored();
    }
    EXPECT_TRUE(device.stays_on_device());
    const std::vector<Bytes> payloads = device.sent();
    EXPECT_EQ(payloads.size(), 2u) << "one of each bucket";
    EXPECT_EQ(payloads, host.sent());
    EXPECT_TRUE(device.stays_on_device()) << "nothing has read it on the host";
    for (Side* side : {&device, &host}) {
      side->commit(Bitmap(2, true));
      EXPECT_FALSE(side->stays_on_device());
      EXPECT_EQ(side->residual(), FloatVector());
    }
  }
  EXPECT_TRUE(device.errors().empty());
}

// The next attempt sends the update of an attempt that has failed.
TEST_P(UpdatesWithoutAResidual, AreKeptIfTheyDoNotCount) {
  Side device(GetParam(), true);
  ASSERT_TRUE(device.train(1));
  EXPECT_EQ(device.sent().size(), 2u);
  device.close();
  EXPECT_FALSE(device.train(1, 1)) << "the next attempt sends the same";
  EXPECT_TRUE(device.stays_on_device());
  EXPECT_EQ(device.sent().size(), 2u);
}

// The agent withdraws, and trains again.
TEST_P(UpdatesWithoutAResidual, AreLostWithTheDevice) {
  Side device(GetParam(), true);
  device.before_taking = [] { emulated::set_device_lost(true); };
  ASSERT_TRUE(device.train(1));
  EXPECT_TRUE(device.withdrawn());
  EXPECT_TRUE(device.sent().empty());
  EXPECT_FALSE(device.stays_on_device());
  emulated::set_device_lost(false);
  device.close();
  device.before_taking = [] {};
  EXPECT_TRUE(device.train(2)) << "it trains again";
  EXPECT_FALSE(device.withdrawn());
}

TEST_P(UpdatesWithoutAResidual, AreNotLostByAFailure) {
  Side host(GetParam(), false);
  host.train(1);
  host.stored();
  const std::vector<Bytes> expected = host.sent();
  for (const Operation operation : {Operation::allocation, Operation::launch, Operation::wait}) {
    Side device(GetParam(), true);
    device.before_taking = [&] { emulated::fail_operation(operation, 1); };
    ASSERT_TRUE(device.train(1));
    emulated::fail_operation(operation, 0);
    device.stored();
    EXPECT_EQ(device.sent(), expected);
    EXPECT_EQ(device.errors().size(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, UpdatesWithoutAResidual,
                         testing::Values("qsgd:bits=2", "signsgd", "thc:range=minmax"));

// Another thread encodes and computes the residuals: what is stored and sent is the same.
class EncodedInBackground : public testing::TestWithParam<std::tuple<const char*, bool>> {
 protected:
  const std::string codec_ = std::get<0>(GetParam());
  const bool on_device_ = std::get<1>(GetParam());
};

TEST_P(EncodedInBackground, LeavesAndSendsTheSame) {
  Side at_once(codec_, on_device_);
  Side background(codec_, on_device_, true);
  std::size_t buckets = 0;
  for (std::uint64_t round = 1; round <= 2; ++round) {
    for (Side* side : {&at_once, &background}) ASSERT_TRUE(side->train(round));
    EXPECT_EQ(background.stored(), at_once.stored());
    const std::vector<Bytes> payloads = background.sent();
    EXPECT_EQ(payloads, at_once.sent());
    buckets += payloads.size();
    for (Side* side : {&at_once, &background}) side->commit(Bitmap(2, true));
    EXPECT_EQ(background.residual(), at_once.residual());
  }
  EXPECT_EQ(at_once.background_works, 0);
  EXPECT_GT(buckets, 0u);
  EXPECT_EQ(background.background_works, static_cast<int>(buckets));
  EXPECT_TRUE(background.errors().empty());
}

// The agent does the work itself if it needs the result before, and encodes nothing later.
TEST_P(EncodedInBackground, IsFinishedBeforeTheRoundEnds) {
  Side at_once(codec_, on_device_);
  Side background(codec_, on_device_, true);
  background.does_background_work = false;
  for (Side* side : {&at_once, &background}) {
    ASSERT_TRUE(side->train(1));
    side->stored();
    side->close();
  }
  EXPECT_EQ(background.residual(), at_once.residual());
  background.does_background_work = true;
  for (Side* side : {&at_once, &background}) {
    EXPECT_FALSE(side->train(1, 1)) << "the next attempt sends the same";
  }
  EXPECT_EQ(background.stored(), at_once.stored());
  EXPECT_EQ(background.sent(), at_once.sent());
}

INSTANTIATE_TEST_SUITE_P(Codecs, EncodedInBackground,
                         testing::Combine(testing::Values("int8", "fp16", "threelc", "topk"),
                                          testing::Bool()));

// A codec that reads its values on the host gets them there.
TEST_F(DeviceFaults, AreNoneIfTheCodecReadsOnTheHost) {
  Side device("topk", true);
  Side host("topk", false);
  for (Side* side : {&device, &host}) ASSERT_TRUE(side->train(1));
  EXPECT_FALSE(device.stays_on_device());
  EXPECT_EQ(device.stored(), host.stored());
}

}  // namespace
}  // namespace tributary
