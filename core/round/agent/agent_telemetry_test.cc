// Tests of the measurements that an agent reports beside its rounds: echoes of probes, speeds of
// codecs, and links to peers.
#include "core/round/agent/agent_telemetry.h"

#include "core/round/agent/replica/agent_parts_testing.h"
#include "core/round/common/machine/probe_padding.h"

namespace tributary {
namespace {

using round_testing::AgentParts;
using round_testing::notes;
using round_testing::Packed;

wire::CodecOfferT speed(std::string spec, double bytes_per_s) {
  wire::CodecOfferT offer;
  offer.spec = std::move(spec);
  offer.encode_bytes_per_s = bytes_per_s;
  return offer;
}

// The telemetry of an agent with one codec and an open session.
class SomeTelemetry : public testing::Test {
 protected:
  SomeTelemetry() : context_(config()) { open_session(1); }
  void open_session(std::uint64_t id) {
    session_.open(id, {.heartbeat_interval_ns = kNsPerMs,
                       .heartbeat_timeout_ns = 10 * kNsPerMs,
                       .ack_timeout_ns = kNsPerMs,
                       .retries_max = 1});
  }
  static AgentConfig config() {
    AgentConfig made;
    made.agent_id = "a";
    made.capabilities.codecs.push_back(std::make_unique<wire::CodecOfferT>(speed("fp32", 0)));
    return made;
  }
  int sent() { return round_testing::count<Send>(context_.out.take()); }
  void probe(std::uint32_t echo_bytes) {
    wire::LinkProbeT probe;
    probe.kind = wire::ProbeKind::probe;
    probe.probe = 1;
    probe.count = 1;
    probe.echo_payload_bytes = echo_bytes;
    telemetry_.echo(*Packed(probe), true);
  }

  AgentContext context_;
  ClientSession session_{context_};
  AgentTelemetry telemetry_{context_, session_};
};

TEST_F(SomeTelemetry, EchoesUpToItsAllowance) {
  probe(1000);
  EXPECT_EQ(sent(), 1);
  probe(kProbePaddingMax + 1);
  EXPECT_EQ(notes(context_.out.take(), "frame_refused"), 1);
  int echoed = 0;
  for (int i = 0; i < 20; ++i) {
    probe(kProbePaddingMax);
    echoed += sent();
  }
  EXPECT_LT(echoed, 20);
  EXPECT_GT(echoed, 0);
}

TEST_F(SomeTelemetry, SendsSpeedsOnceByMessageOrByHello) {
  telemetry_.take_speeds({.codecs = {speed("fp32", 1e6), speed("unknown", 1)}});
  EXPECT_EQ(sent(), 1);
  telemetry_.send_speeds();
  EXPECT_EQ(sent(), 0);
  session_.close();
  telemetry_.take_speeds({.codecs = {speed("fp32", 2e6)}});
  const auto capabilities = telemetry_.capabilities_to_send();
  ASSERT_EQ(capabilities->codecs.size(), 1u);
  EXPECT_EQ(capabilities->codecs[0]->encode_bytes_per_s, 2e6);
  open_session(2);
  telemetry_.send_speeds();
  EXPECT_EQ(sent(), 0) << "the Hello has them";
}

TEST_F(SomeTelemetry, DropsLinksWithoutASession) {
  wire::LinkSampleT link;
  link.method = wire::LinkMethod::active;
  telemetry_.send_links({.links = {link}});
  EXPECT_EQ(sent(), 1);
  session_.close();
  telemetry_.send_links({.links = {link}});
  EXPECT_EQ(sent(), 0);
}

}  // namespace
}  // namespace tributary
