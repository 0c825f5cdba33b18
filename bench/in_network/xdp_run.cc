#include "bench/in_network/xdp_run.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/random.h"
#include "core/collective/in_network/packet.h"
#include "switch_p4/xdp/frame_testing.h"
#include "switch_p4/xdp/gateway.h"

namespace tributary::bench {
namespace {

using in_network::kContributorsBytes;
using in_network::kHeaderBytes;

constexpr std::uint8_t kXdpAgentCount = 4;
constexpr std::uint16_t kXdpValues = 1024;
constexpr UdpAddress kXdpListen = {.ip = 0x0a4d0001, .port = 4650};
constexpr UdpAddress kXdpGroup = {.ip = 0xefff0107, .port = 4651};

Status system_refused(std::string what) {
  return Status(StatusCode::io_error, {.what = std::move(what), .got = std::strerror(errno)});
}

Result<int> load_passing_program() {
  std::array<bpf_insn, 2> instructions = {};
  instructions[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  instructions[0].imm = XDP_PASS;
  instructions[1].code = BPF_JMP | BPF_EXIT;
  const int program = bpf_prog_load(BPF_PROG_TYPE_XDP, "passes", "Apache-2.0", instructions.data(),
                                    instructions.size(), nullptr);
  if (program < 0) return system_refused("an XDP program of two instructions");
  return program;
}

class AttachedProgram : public PassingProgram {
 public:
  explicit AttachedProgram(int link) : link_(link) {}
  ~AttachedProgram() override { ::close(link_); }
  AttachedProgram(const AttachedProgram&) = delete;
  AttachedProgram& operator=(const AttachedProgram&) = delete;

 private:
  const int link_;
};

class XdpPhases {
 public:
  Status open() {
    in_network::SlotJob job = {
        .handle = 1, .epoch = 1, .agents = kXdpAgentCount, .granularity = 30, .slots = 64};
    for (std::uint16_t i = 0; i < 16; ++i) job.places[i] = static_cast<std::uint16_t>(2 * i);
    TRIBUTARY_ASSIGN(gateway_, switch_xdp::Gateway::load(
                                   {.slots = 64, .listen = kXdpListen, .group = kXdpGroup}));
    return gateway_->install(job);
  }

  // Slots take turns, as those of a bucket do.
  Status phase(std::uint32_t number, XdpRun& run) {
    Bytes expected(kXdpValues, 0);
    for (std::uint8_t agent = 0; agent < kXdpAgentCount; ++agent) {
      Bytes packet(kHeaderBytes + kXdpValues / 2, 0);
      in_network::write_header({.agent = agent,
                                .agents = kXdpAgentCount,
                                .job = 1,
                                .epoch = 1,
                                .sequence = number / 64,
                                .slot = static_cast<std::uint16_t>(number % 64),
                                .count = kXdpValues},
                               packet.data());
      for (std::size_t i = 0; i < kXdpValues; ++i) {
        const std::uint64_t level =
            random_bits({number, agent}, static_cast<std::uint32_t>(i)) & 15;
        expected[i] = static_cast<std::uint8_t>(expected[i] + 2 * level);
        std::uint8_t& two = packet[kHeaderBytes + i / 2];
        two = static_cast<std::uint8_t>(two | level << (i % 2 * 4));
      }
      const UdpAddress from = {.ip = 0x0a4d0002u + agent, .port = 5000};
      const switch_xdp::TestRun one = switch_xdp::test_run(
          gateway_->program_file(), switch_xdp::frame_of({from, kXdpListen}, packet));
      const bool last = agent + 1 == kXdpAgentCount;
      if (one.error != 0 || one.action != (last ? XDP_TX : XDP_DROP)) {
        return system_refused(fmt::format("phase {} of the XDP program", number));
      }
      (last ? run.result_ns : run.contribution_ns).push_back(one.duration_ns);
      if (last) TRIBUTARY_TRY(check(one.frame, expected));
    }
    return {};
  }

 private:
  static Status check(const Bytes& frame, const Bytes& expected) {
    constexpr std::size_t kSumsAt = switch_xdp::kFrameBytes + kHeaderBytes + kContributorsBytes;
    const bool right = frame.size() == kSumsAt + expected.size() &&
                       std::memcmp(frame.data() + kSumsAt, expected.data(), expected.size()) == 0;
    if (right) return {};
    return Status(StatusCode::mismatch,
                  {.what = "a result of the XDP program", .expected = "the sums of four agents"});
  }

  std::unique_ptr<switch_xdp::Gateway> gateway_;
};

}  // namespace

Result<XdpRun> run_xdp(std::uint32_t phases) {
  XdpRun run;
  XdpPhases all;
  TRIBUTARY_TRY(all.open());
  TRIBUTARY_ASSIGN(const int nothing, load_passing_program());
  const Bytes frame = switch_xdp::frame_of({kXdpGroup, kXdpListen}, Bytes(64, 0));
  Status status;
  for (std::uint32_t number = 0; number < phases && status.ok(); ++number) {
    status = all.phase(number, run);
    run.nothing_ns.push_back(switch_xdp::test_run(nothing, frame).duration_ns);
  }
  ::close(nothing);
  TRIBUTARY_TRY(status);
  return run;
}

Result<std::unique_ptr<PassingProgram>> attach_passing_program(const std::string& device) {
  TRIBUTARY_ASSIGN(const int program, load_passing_program());
  const int link = bpf_link_create(program, static_cast<int>(::if_nametoindex(device.c_str())),
                                   BPF_XDP, nullptr);
  ::close(program);
  if (link < 0) return system_refused(fmt::format("an XDP program on '{}'", device));
  return std::unique_ptr<PassingProgram>(std::make_unique<AttachedProgram>(link));
}

}  // namespace tributary::bench
