// Tests of the agent's settings, mainly those that need each other.
#include "edge_agent/config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/base/thread_pool.h"
#include "core/collective/collective_name.h"
#include "core/cost/exchange_shape.h"

namespace tributary {
namespace {

Result<AgentSettings> settings_with(const std::vector<std::string>& more) {
  DaemonFlags flags;
  flags.assignments = {"agent_id=agent-1", "journal.file=agent.db",
                       "link.coordinator=tcp://127.0.0.1:4640", "link.encrypted=false"};
  flags.assignments.insert(flags.assignments.end(), more.begin(), more.end());
  return read_agent_settings(flags);
}

TEST(AgentSettings, WithoutAPortForPeersItUsesTheStar) {
  const auto settings = settings_with({});
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_TRUE(settings->peers_endpoint.empty());
  EXPECT_EQ(settings->machine.capabilities.collectives,
            std::vector<wire::Collective>{wire::Collective::star});
  EXPECT_EQ(settings->machine.build, build_version()) << "the coordinator shows it";
}

TEST(AgentSettings, WithAPortForPeersItOffersAllCollectives) {
  const auto settings = settings_with({"peers.endpoint=tcp://192.0.2.7:0"});
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->peers_endpoint, "tcp://192.0.2.7:0");
  EXPECT_EQ(settings->machine.capabilities.collectives.size(), kCollectives.size());
}

// A wrong value is an error at the start that names the setting, not a failed connection later.
TEST(AgentSettings, TheCoordinatorsEndpointTheIdAndTheShardAreChecked) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"link.coordinator", "http://coordinator"},
      {"link.coordinator", "tcp://coordinator:99999"},
      {"link.coordinator", "tcp://*:4640"},
      {"agent_id", "a b"},
      {"data.shard", "3"}};
  for (const auto& [setting, value] : wrong) {
    std::string assignment = setting;
    assignment += "=" + value;
    const Status status = settings_with({assignment}).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << assignment;
    EXPECT_NE(status.text().find("setting " + setting), std::string::npos) << status.text();
    EXPECT_EQ(status.text().find("got none"), std::string::npos) << status.text();
  }
}

// Without examples an agent could only fail in its first round.
TEST(AgentSettings, ATrainerNeedsExamplesThatExist) {
  const auto error_with = [](const std::string& path) {
    return settings_with({"trainer.name=torch", "data.path=" + path}).status();
  };
  EXPECT_EQ(error_with("").code(), StatusCode::invalid_argument);
  const Status status = error_with("/nowhere/digits");
  EXPECT_EQ(status.code(), StatusCode::not_found);
  EXPECT_NE(status.text().find("setting data.path"), std::string::npos) << status.text();
  EXPECT_NE(status.text().find("'/nowhere/digits', which does not exist"), std::string::npos)
      << status.text();
  // The synthetic trainer reads no data.
  EXPECT_TRUE(settings_with({"data.path=/nowhere/digits"}).ok());
}

// The synthetic trainer has one thread; libtorch has as many as its setting says, or all.
TEST(AgentSettings, CodecsHaveTheThreadsThatTheTrainerLeaves) {
  const std::size_t processors = hardware_threads();
  const auto left = [&](std::size_t training) {
    return processors > training ? std::min<std::size_t>(processors - training, 16) : 1;
  };
  EXPECT_EQ(settings_with({})->common.threads, left(1));
  EXPECT_EQ(settings_with({"threads=7"})->common.threads, 7u);
  EXPECT_EQ(settings_with({"threads=2000"}).status().code(), StatusCode::invalid_argument);
}

TEST(AgentSettings, ADeviceThatEncodesIsOneOfFour) {
  EXPECT_EQ(settings_with({})->codec_device, DeviceSetting::automatic);
  EXPECT_EQ(settings_with({"codec.device=cuda"})->codec_device, DeviceSetting::cuda);
  EXPECT_EQ(settings_with({"codec.device=emulated"})->codec_device, DeviceSetting::emulated);
  const Status status = settings_with({"codec.device=gpu"}).status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.text().find("setting codec.device"), std::string::npos) << status.text();
}

// Only libtorch's trainer has a choice.
TEST(AgentSettings, ADeviceThatTrainsIsOneOfThree) {
  EXPECT_EQ(settings_with({})->training.trains_on, TrainerDevice::host);
  for (const char* const bad : {"trainer.device=gpu", "trainer.device=cuda"}) {
    const Status status = settings_with({bad}).status();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_NE(status.text().find("setting trainer.device"), std::string::npos) << status.text();
  }
}

// A wildcard address or a host name is not an address that peers can connect to.
TEST(AgentSettings, APortForPeersIsOneThatTheyCanReach) {
  for (const std::string bad :
       {"tcp://0.0.0.0:4650", "tcp://[::]:4650", "tcp://lan:4650", "4650"}) {
    const auto settings = settings_with({"peers.endpoint=" + bad});
    EXPECT_EQ(settings.status().code(), StatusCode::invalid_argument) << bad;
    EXPECT_NE(settings.status().text().find("peers.endpoint"), std::string::npos)
        << settings.status().text();
  }
  const std::string every = "peers.endpoint=tcp://0.0.0.0:4650";
  EXPECT_NE(settings_with({every}).status().text().find("address on the LAN"), std::string::npos);
  EXPECT_TRUE(settings_with({every, "peers.advertise=tcp://192.0.2.7:4650"}).ok());
  EXPECT_FALSE(settings_with({every, "peers.advertise=tcp://192.0.2.7:0"}).ok());
  EXPECT_FALSE(settings_with({"peers.advertise=tcp://192.0.2.7:4650"}).ok());
}

// Levels travel unencrypted, so an agent takes part only if its own settings say so.
TEST(AgentSettings, SumsInTheNetworkNeedAPortForThem) {
  using wire::Collective;
  const auto offers = [](const std::vector<std::string>& more) {
    const auto settings = settings_with(more);
    EXPECT_TRUE(settings.ok()) << settings.status().text();
    const auto& offered = settings->machine.capabilities.collectives;
    return std::ranges::count(offered, Collective::in_network);
  };
  EXPECT_EQ(offers({}), 0);
  EXPECT_EQ(offers({"peers.endpoint=tcp://192.0.2.7:0"}), 0);
  EXPECT_EQ(offers({"in_network.listen=0.0.0.0:0"}), 1);
  EXPECT_EQ(offers({"in_network.listen=192.0.2.7:0", "in_network.group=239.1.2.3:4651"}), 1);
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"in_network.listen=gateway:0"},
           {"in_network.group=239.1.2.3:4651"},
           {"in_network.listen=0.0.0.0:0", "in_network.group=192.0.2.1:4651"}}) {
    EXPECT_EQ(settings_with(wrong).status().code(), StatusCode::invalid_argument) << wrong.back();
  }
}

TEST(AgentSettings, OverMpiItOffersAllCollectivesAndNamesNoPort) {
  EXPECT_EQ(settings_with({})->peers_transport, PeerTransport::tcp);
  const auto settings = settings_with({"peers.transport=mpi"});
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->peers_transport, PeerTransport::mpi);
  EXPECT_EQ(settings->machine.capabilities.collectives.size(), kCollectives.size());
  for (const std::string other :
       {"peers.endpoint=tcp://192.0.2.7:0", "peers.advertise=tcp://192.0.2.7:4650"}) {
    const auto both = settings_with({"peers.transport=mpi", other});
    EXPECT_EQ(both.status().code(), StatusCode::invalid_argument) << other;
  }
  EXPECT_EQ(settings_with({"peers.transport=udp"}).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
