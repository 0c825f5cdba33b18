#include "cli/run/dashboard_pictures.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "cli/process/child_process.h"
#include "cli/text.h"
#include "core/base/clock.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;
using report::PagePicture;

// Limit per picture. The dashboard's own limit is shorter, so that its error states the reason.
constexpr int kPictureWaitS = 20;
constexpr std::chrono::seconds kPictureTimeMax{kPictureWaitS + 20};
constexpr std::chrono::milliseconds kPictureLookEvery{10};

// A page of the dashboard and its title in the report.
struct DrawnPage {
  const char* name;
  const char* title;
};
constexpr std::array kDrawnPages = {
    DrawnPage{"overview", "Learning and traffic"}, DrawnPage{"traffic", "Bytes up and down"},
    DrawnPage{"decisions", "Decisions of the planner"}, DrawnPage{"agents", "Agents"},
    DrawnPage{"round", "The last round by agent"}};

// Callers distinguish the codes: cancelled means that the user has stopped the command.
Status cannot_draw(StatusCode code, std::string expected, std::string got) {
  return Status(code, {.what = "the dashboard's pictures",
                       .expected = std::move(expected),
                       .got = std::move(got),
                       .remedy = {}});
}

// Runs the dashboard once per page as a process of its own, so that `tributary` needs no Qt.
class PicturesOfRun {
 public:
  PicturesOfRun(const std::string& run_file, const fs::path& folder,
                const PictureProgress& progress)
      : run_file_(run_file), folder_(folder), progress_(progress) {}
  ~PicturesOfRun() {
    std::error_code ignored;
    fs::remove(log(), ignored);
    // After an error the partial set of pictures is removed.
    if (all_drawn_) return;
    for (const PagePicture& each : pictures_) fs::remove(folder_ / each.file, ignored);
  }
  PicturesOfRun(const PicturesOfRun&) = delete;
  PicturesOfRun& operator=(const PicturesOfRun&) = delete;

  Result<std::vector<PagePicture>> draw() {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) return cannot_draw(StatusCode::io_error, "a writable folder", error.message());
    for (const DrawnPage& page : kDrawnPages) {
      pictures_.push_back(
          {.title = page.title, .file = fmt::format("dashboard-{}.png", page.name)});
      TRIBUTARY_TRY(draw(page.name, folder_ / pictures_.back().file));
    }
    all_drawn_ = true;
    return pictures_;
  }

 private:
  std::string log() const { return (folder_ / ".dashboard.log").string(); }

  // An error on any page ends the whole set. The child ends with this object, also when the user
  // stops the command.
  Status draw(const std::string& page, const fs::path& file) const {
    TRIBUTARY_ASSIGN(
        const std::unique_ptr<ChildProcess> program,
        ChildProcess::start(
            {find_own_program("dashboard", "tributary-dashboard"), "--open", run_file_, "--page",
             page, "--export-png", file.string(), "--wait-s", fmt::format("{}", kPictureWaitS)},
            log()));
    const SystemClock clock;
    const auto give_up_at = clock.now() + kPictureTimeMax;
    while (!program->exit_code()) {
      if (!progress_(pictures_.size() - 1, kDrawnPages.size())) {
        return cannot_draw(StatusCode::cancelled, "complete pictures", "a signal to stop");
      }
      if (clock.now() > give_up_at) {
        return cannot_draw(StatusCode::deadline_exceeded,
                           fmt::format("each within {} s", kPictureTimeMax.count()),
                           fmt::format("'{}' still being drawn", page));
      }
      std::this_thread::sleep_for(kPictureLookEvery);
    }
    if (*program->exit_code() == 0) return {};
    return cannot_draw(
        StatusCode::unavailable, "exit code 0 of tributary-dashboard",
        fmt::format("exit code {}: {}", *program->exit_code(), first_line(program->last_output())));
  }

  const std::string& run_file_;
  const fs::path folder_;
  const PictureProgress& progress_;
  std::vector<PagePicture> pictures_;
  bool all_drawn_ = false;
};

}  // namespace

Result<std::vector<PagePicture>> draw_dashboard_pictures(const std::string& run_file,
                                                         const std::string& folder,
                                                         const PictureProgress& progress) {
  return PicturesOfRun(run_file, folder, progress).draw();
}

}  // namespace tributary
