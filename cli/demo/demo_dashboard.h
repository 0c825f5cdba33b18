// The dashboard window beside a demonstration. It opens if a display exists, closes on Ctrl-C, and
// stays open when the demonstration has ended.
//
// The dashboard is a separate program that may not be installed. Its absence is an error only if
// the user asked for a window. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/process/child_process.h"
#include "core/base/status.h"

namespace tributary {

// When a window is opened: if a display exists, always (with an error if that fails), or never.
enum class DemoWindow : std::uint8_t { if_possible, required, none };

// Whether the environment names a display for this process.
bool has_display();

class DemoDashboard {
 public:
  explicit DemoDashboard(DemoWindow window) : window_(window) {}

  // Opens the window, which follows the run from its first round. Returns a message for the user if
  // a window was requested and cannot be opened.
  std::optional<std::string> open(const std::string& run_file, const std::string& log);
  // Returns such a message, once, if the window has ended with an error.
  std::optional<std::string> check();
  // Leaves the window open beyond the lifetime of this object. Without this call the destructor
  // closes it.
  void leave_open();
  // Closes the window.
  void close() { program_.reset(); }

 private:
  DemoWindow window_;
  std::unique_ptr<ChildProcess> program_;
};

}  // namespace tributary
