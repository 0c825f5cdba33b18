#include "bench/in_network/xdp_run.h"

namespace tributary::bench {
namespace {

Status no_xdp() {
  return Status(StatusCode::unsupported, {.what = "XDP",
                                          .expected = "a build with libbpf and clang",
                                          .remedy = "install libbpf-dev and clang"});
}

}  // namespace

Result<XdpRun> run_xdp(std::uint32_t /*phases*/) { return no_xdp(); }

Result<std::unique_ptr<PassingProgram>> attach_passing_program(const std::string& /*device*/) {
  return no_xdp();
}

}  // namespace tributary::bench
