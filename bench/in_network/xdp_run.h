// Measures single runs of the XDP program in the kernel. Without libbpf, every function returns
// unsupported. Loads programs, which needs root; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/status.h"

namespace tributary::bench {

// Durations of single runs in ns, by BPF_PROG_TEST_RUN: the clock's own cost is in each.
struct XdpRun {
  std::vector<double> contribution_ns;  // no reply
  std::vector<double> result_ns;        // contributions that complete a phase
  std::vector<double> nothing_ns;       // a program of two instructions
};
// Contributions of 1,024 values of four agents, phase after phase. All sums are checked.
Result<XdpRun> run_xdp(std::uint32_t phases);

// A program that lets everything pass, on a device of this namespace, until the object ends.
class PassingProgram {
 public:
  virtual ~PassingProgram() = default;
};
Result<std::unique_ptr<PassingProgram>> attach_passing_program(const std::string& device);

}  // namespace tributary::bench
