#include "cli/demo/demo_dashboard.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "cli/text.h"

namespace tributary {
namespace {

// An empty variable counts as not set.
bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// One line, because it appears above a progress bar.
std::string no_window(const std::string& why) { return "no dashboard: " + first_line(why); }

}  // namespace

bool has_display() { return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"); }

std::optional<std::string> DemoDashboard::open(const std::string& run_file,
                                               const std::string& log) {
  if (window_ == DemoWindow::none) return {};
  std::string why = "no display: neither DISPLAY nor WAYLAND_DISPLAY is set";
  if (has_display()) {
    auto program = ChildProcess::start(
        {find_own_program("dashboard", "tributary-dashboard"), "--open", run_file}, log,
        Orphan::goes_on);
    if (program.ok()) {
      program_ = std::move(*program);
      return {};
    }
    why = program.status().text();
  }
  // A missing window is reported only if the user has requested one.
  if (window_ == DemoWindow::required) return no_window(why);
  return {};
}

std::optional<std::string> DemoDashboard::check() {
  const std::optional<int> code = program_ ? program_->exit_code() : std::nullopt;
  if (!code) return {};
  // Read before the process object, which owns the log, is destroyed.
  const std::string words = program_->last_output();
  program_.reset();
  if (*code == 0) return {};
  return no_window(fmt::format("it ended with code {}: {}", *code, first_line(words)));
}

// Without leave() the destructor of the process object would end the window.
void DemoDashboard::leave_open() {
  if (program_) program_->leave();
  program_.reset();
}

}  // namespace tributary
