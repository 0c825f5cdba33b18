// Measures the whole window, painted by the CPU without a display: the time until a long run is
// visible, the CPU share of a run that is being written, and the growth of memory.
//
// usage: tributary-bench-dashboard-window first|pace|hour [N]
//   first [N]  opens a file of 100,000 rounds and 32 agents N times (5), each time in a new
//   process:
//              seconds from its start to the first picture with curves
//   pace [N]   follows 100 agents with ten reports per second for N seconds (60): the share of one
//              core, per page
//   hour [N]   N minutes (60) of the same run, written as fast as possible: memory over time
#include <fmt/core.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QImage>
#include <QProcess>
#include <QSettings>
#include <QTimer>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bench/dashboard/paced_run.h"
#include "core/run/big_run_testing.h"
#include "core/store/testing/folder_testing.h"
#include "dashboard/pages/all_pages.h"
#include "dashboard/pages/overview/overview_page.h"
#include "dashboard/window/main_window.h"
#include "dashboard/window/theme.h"

namespace tributary::dashboard {
namespace {

constexpr int kLookEveryMs = 5;
constexpr int kPatienceMs = 60'000;
constexpr int kSettleMs = 3'000;

// The dashboard's window with all pages, and a run.
struct Bench {
  explicit Bench(const std::string& run_file)
      : settings(QString::fromStdString(folder / "settings.ini"), QSettings::IniFormat),
        window(settings, context, make_all_pages(context)) {
    window.open_run(run_file);
    window.show();
  }
  const RunSession& run() { return *window.runs().runs().front(); }
  std::size_t rounds() {
    const RoundTable* const table = run().view().rounds(run_testing::kJob);
    return table ? table->size() : 0;
  }
  std::uint64_t paints() {
    std::uint64_t sum = 0;
    for (const PlotView* plot : window.findChildren<PlotView*>()) sum += plot->paints();
    return sum;
  }

  store_testing::Folder folder;
  QSettings settings;
  PageContext context;
  MainWindow window;
};

bool run_until(const std::function<bool()>& condition, int patience_ms) {
  QElapsedTimer timer;
  timer.start();
  while (!condition()) {
    if (timer.elapsed() > patience_ms) return false;
    QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents,
                                kLookEveryMs);
  }
  return true;
}

// Waits in the event loop like the program; only its own timer wakes it.
void run_for(int ms) {
  QEventLoop loop;  // the application's own loop closes the windows when it ends
  QTimer::singleShot(ms, &loop, &QEventLoop::quit);
  loop.exec();
}

double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Resident memory of this process from /proc, in MiB.
double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double size = 0;
  double resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// The start time of a process is stated in ticks, usually of 10 ms.
double seconds_since_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  std::timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 -
         std::stod(field) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

int fail(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  return 1;
}

// --- the first picture ---------------------------------------------------------------------------

// Number of different colours; a picture without a curve has few.
std::size_t colours_of(const QImage& image) {
  std::vector<QRgb> found;
  for (int y = 0; y < image.height(); y += 2) {
    for (int x = 0; x < image.width(); x += 2) found.push_back(image.pixel(x, y));
  }
  std::ranges::sort(found);
  return static_cast<std::size_t>(std::unique(found.begin(), found.end()) - found.begin());
}

// Runs in a process of its own, so that nothing is cached in memory except the file's pages.
int see_first_picture(const std::string& run_file) {
  Bench bench(run_file);
  auto* const page = qobject_cast<OverviewPage*>(bench.window.docks().page("overview"));
  PlotView& plot = page->accuracy_plot();
  std::uint64_t before = 0;
  const bool seen = run_until(
      [&] {
        if (plot.empty()) before = plot.paints();
        return bench.run().view().overview_read() && plot.paints() > before;
      },
      kPatienceMs);
  page->refresh();  // displays the last portion
  bench.context.group().refresh_now();
  const double took_s = seconds_since_start();
  if (!seen) return fail("no picture came");
  if (bench.rounds() != run_testing::BigRun().rounds) return fail("not all rounds were read");
  if (colours_of(plot.grab().toImage()) < 10) return fail("the picture has no curve");
  fmt::print("{:.3f}\n", took_s);
  return 0;
}

int measure_first(const QString& program, int times) {
  const store_testing::Folder folder;
  const std::string path = folder / "run.db";
  if (const Status written = run_testing::BigRunWriter({}).write(path); !written.ok()) {
    return fail(written.text());
  }
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    QProcess child;
    child.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    child.start(program, {"see", QString::fromStdString(path)});
    if (!child.waitForFinished(2 * kPatienceMs) || child.exitCode() != 0) return fail("no picture");
    seconds.push_back(child.readAllStandardOutput().trimmed().toDouble());
  }
  std::ranges::sort(seconds);
  const double median = seconds[seconds.size() / 2];
  fmt::print(
      "first picture of 100,000 rounds x 32 agents: median {:.2f} s, {:.2f} to {:.2f}; goal 2 s: "
      "{}\n",
      median, seconds.front(), seconds.back(), median < 2 ? "reached" : "missed");
  return 0;
}

// --- a run that is being written
// ------------------------------------------------------------------

int write_run(const std::string& path, std::uint64_t rounds, bool paced) {
  const auto run = bench::PacedRun::begin(path);
  const Status status = run.ok() ? (*run)->write(rounds, paced) : run.status();
  return status.ok() ? 0 : fail(status.text());
}

// A process that writes the run; the destructor kills it.
class Writer {
 public:
  Writer(const QString& program, const std::string& path, std::uint64_t rounds, bool paced) {
    process_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process_.start(program, {paced ? "write-paced" : "write", QString::fromStdString(path),
                             QString::number(rounds)});
  }
  ~Writer() {
    process_.kill();
    process_.waitForFinished();
  }
  bool ended() const { return process_.state() == QProcess::NotRunning; }

 private:
  QProcess process_;
};

// Shows one page after another, and measures the CPU time of each after it has settled.
int measure_pace(const QString& program, int seconds) {
  const store_testing::Folder folder;
  const std::string path = folder / "run.db";
  const Writer writer(program, path, 1'000'000, true);
  Bench bench(path);
  if (!run_until([&] { return bench.rounds() > 0; }, kPatienceMs)) return fail("no round came");
  const std::vector<QString> pages = page_names();
  double cpu_sum_s = 0;
  double wall_sum_s = 0;
  for (const QString& page : pages) {
    bench.window.show_page(page);
    run_for(kSettleMs);
    const std::size_t rounds_before = bench.rounds();
    const std::uint64_t paints_before = bench.paints();
    const double cpu_before_s = cpu_s();
    QElapsedTimer timer;
    timer.start();
    run_for(seconds * 1000 / static_cast<int>(pages.size()));
    const double wall_s = static_cast<double>(timer.nsecsElapsed()) / 1e9;
    const double spent_s = cpu_s() - cpu_before_s;
    const double rate = static_cast<double>(bench.rounds() - rounds_before) / wall_s;
    fmt::print("{:<10} {:5.1f} % of one core; {:4.1f} rounds/s read, {:5.1f} repaints/s\n",
               page.toStdString(), 100 * spent_s / wall_s, rate,
               static_cast<double>(bench.paints() - paints_before) / wall_s);
    if (rate < 0.8 * bench::kPacedRoundsPerS) return fail("the writer or the window fell behind");
    if (page != "events" && bench.paints() == paints_before) return fail("nothing was painted");
    cpu_sum_s += spent_s;
    wall_sum_s += wall_s;
  }
  const double share = cpu_sum_s / wall_sum_s;
  fmt::print("{} agents x {} reports/s: {:.1f} % of one core; goal 25 %: {}; {:.0f} MiB\n",
             bench::kPacedAgents, bench::kPacedRoundsPerS, 100 * share,
             share < 0.25 ? "reached" : "missed", resident_mib());
  return 0;
}

// Prints memory every five minutes of the run's own time.
int measure_hour(const QString& program, int minutes) {
  constexpr std::uint64_t kRoundsPerMinute = std::uint64_t{60} * bench::kPacedRoundsPerS;
  const store_testing::Folder folder;
  const std::string path = folder / "run.db";
  const std::uint64_t rounds = kRoundsPerMinute * static_cast<std::uint64_t>(minutes);
  const Writer writer(program, path, rounds, false);
  Bench bench(path);
  fmt::print("minute  resident MiB\n");
  for (int minute = 5; minute <= minutes; minute += 5) {
    const std::uint64_t rounds_expected = kRoundsPerMinute * static_cast<std::uint64_t>(minute);
    const bool there =
        run_until([&] { return bench.rounds() >= rounds_expected; }, 10 * kPatienceMs);
    if (!there) return fail("the writer or the window stopped");
    fmt::print("{:>6}  {:>12.0f}\n", minute, resident_mib());
    std::fflush(stdout);
  }
  std::uint64_t reports = 0;
  run_until([&] { return writer.ended() && bench.run().caught_up(); }, kPatienceMs);
  run_for(kSettleMs);
  for (const AgentRow& agent : bench.run().view().agents()) reports += agent.reports;
  fmt::print("{} of {} reports were read; {} repaints\n", reports, rounds * bench::kPacedAgents,
             bench.paints());
  return 0;
}

int run_bench(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::string first = argc > 2 ? argv[2] : "";
  if (mode == "write" || mode == "write-paced") {
    return write_run(first, std::strtoull(argv[3], nullptr, 10), mode == "write-paced");
  }
  int one = 1;
  const QApplication application(one, argv);
  apply_theme(Theme::light);
  const QString program = QApplication::applicationFilePath();
  const int number = std::max(0, std::atoi(first.c_str()));
  if (mode == "see") return see_first_picture(first);
  if (mode == "first") return measure_first(program, number > 0 ? number : 5);
  if (mode == "pace") return measure_pace(program, number > 0 ? number : 60);
  if (mode == "hour") return measure_hour(program, number > 0 ? number : 60);
  return fail("usage: tributary-bench-dashboard-window first|pace|hour [N]");
}

}  // namespace
}  // namespace tributary::dashboard

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  return tributary::dashboard::run_bench(argc, argv);
}
