// The dashboard beside a demonstration: opened where there is a display, closed with Ctrl-C, and
// left to those who look at it when all else has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/process/child_process.h"
#include "core/base/status.h"

namespace tributary {

// Whether there is to be one: where it can be, in any case, or not.
enum class DemoWindow : std::uint8_t { if_possible, wanted, none };

// Names a display that programs of this process would show their windows on.
bool has_display();

class DemoDashboard {
 public:
  explicit DemoDashboard(DemoWindow window) : window_(window) {}

  // Shows the run, which is followed from its first round on. Returns a line for people where there
  // should be a window and is none.
  std::optional<std::string> open(const std::string& run_file, const std::string& log);
  // Returns such a line, once, if it has ended in another way than people close windows.
  std::optional<std::string> check();
  // Unless it is left open it ends with this object, at the latest.
  void leave_open();
  void close() { program_.reset(); }

 private:
  DemoWindow window_;
  std::unique_ptr<ChildProcess> program_;
};

}  // namespace tributary
