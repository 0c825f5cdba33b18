// Ethernet frames around datagrams, and one run of an XDP program over a frame, for tests and
// benchmarks.
#pragma once

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "core/base/bytes/bytes.h"
#include "core/net/udp/udp_address.h"

namespace tributary::switch_xdp {

inline constexpr std::size_t kFrameBytes =
    sizeof(ethhdr) + sizeof(iphdr) + sizeof(udphdr);  // before the datagram

// Why the kernel takes no XDP program here; empty if it takes one. Loads two instructions.
inline std::string xdp_refusal() {
  std::array<bpf_insn, 2> instructions = {};
  instructions[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  instructions[0].imm = XDP_PASS;
  instructions[1].code = BPF_JMP | BPF_EXIT;
  const int program = bpf_prog_load(BPF_PROG_TYPE_XDP, "passes", "Apache-2.0", instructions.data(),
                                    instructions.size(), nullptr);
  if (program < 0) return std::string("the kernel loads no XDP program: ") + std::strerror(errno);
  ::close(program);
  return {};
}

struct FrameEnds {
  UdpAddress from;
  UdpAddress to;
};

// A frame without checksums.
inline Bytes frame_of(const FrameEnds& ends, ByteSpan datagram) {
  Bytes frame(kFrameBytes + datagram.size());
  ethhdr eth = {
      .h_dest = {2, 0, 0, 0, 0, 1}, .h_source = {2, 0, 0, 0, 0, 2}, .h_proto = htons(ETH_P_IP)};
  iphdr ip = {};
  ip.version = 4;
  ip.ihl = 5;
  ip.ttl = 64;
  ip.protocol = IPPROTO_UDP;
  ip.tot_len = htons(static_cast<std::uint16_t>(frame.size() - sizeof(eth)));
  ip.saddr = htonl(ends.from.ip);
  ip.daddr = htonl(ends.to.ip);
  udphdr udp = {};
  udp.source = htons(ends.from.port);
  udp.dest = htons(ends.to.port);
  udp.len = htons(static_cast<std::uint16_t>(sizeof(udp) + datagram.size()));
  std::memcpy(frame.data(), &eth, sizeof(eth));
  std::memcpy(frame.data() + sizeof(eth), &ip, sizeof(ip));
  std::memcpy(frame.data() + sizeof(eth) + sizeof(ip), &udp, sizeof(udp));
  if (!datagram.empty()) std::memcpy(frame.data() + kFrameBytes, datagram.data(), datagram.size());
  return frame;
}

struct TestRun {
  int error = 0;             // of the system call
  std::uint32_t action = 0;  // XDP_DROP, XDP_TX, ...
  std::uint32_t duration_ns = 0;
  Bytes frame;  // as the program left it
};

inline TestRun test_run(int program, const Bytes& frame) {
  TestRun run;
  run.frame.resize(2048);
  bpf_test_run_opts options = {};
  options.sz = sizeof(options);
  options.data_in = frame.data();
  options.data_size_in = static_cast<std::uint32_t>(frame.size());
  options.data_out = run.frame.data();
  options.data_size_out = static_cast<std::uint32_t>(run.frame.size());
  options.repeat = 1;
  run.error = bpf_prog_test_run_opts(program, &options);
  run.action = options.retval;
  run.duration_ns = options.duration;
  run.frame.resize(options.data_size_out);
  return run;
}

}  // namespace tributary::switch_xdp
