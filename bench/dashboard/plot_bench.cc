// Measures the time of a repaint in ms during zooming and panning, painted by the CPU without a
// display.
//
// usage: tributary-bench-dashboard [REPAINTS]
#include <fmt/core.h>

#include <QApplication>
#include <QImage>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {
namespace {

constexpr QSize kPictureSize(1200, 500);

// A decreasing curve with noise, like a loss.
std::shared_ptr<Series> noisy_curve(std::uint64_t seed, std::size_t samples) {
  auto series = std::make_shared<Series>(samples);
  const StreamKey noise = stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data});
  for (std::size_t i = 0; i < samples; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(samples);
    const double level = 2 * std::exp(-3 * at) + 0.05 * static_cast<double>(seed % 64);
    const double jitter = uniform_01(random_bits(noise, static_cast<std::uint32_t>(i))) - 0.5;
    series->append({static_cast<double>(i), level + 0.1 * jitter});
  }
  return series;
}

// The share of pixels that differ from the background. It is small for a picture without curves.
double inked(const QImage& picture) {
  const QRgb ground = picture.pixel(0, picture.height() - 1);
  std::size_t found = 0;
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) found += picture.pixel(x, y) != ground ? 1U : 0U;
  }
  return static_cast<double>(found) / picture.width() / picture.height();
}

struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

struct RepaintTimes {
  std::vector<double> wall_ms = {};
  std::vector<double> cpu_ms = {};  // time on a machine with no other load
};

double cpu_now_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Each step is a zoom or a pan, a repaint of the canvas and its transfer to the window.
RepaintTimes repaint(PlotView& view, int repaints) {
  using Clock = std::chrono::steady_clock;
  RepaintTimes times;
  for (int i = 0; i < repaints; ++i) {
    const auto begin = Clock::now();
    const double cpu_begin = cpu_now_ms();
    if (i % 16 == 15) {
      view.group().x_axis().fit();
    } else if (i % 2 == 0) {
      view.axes().zoom_about(view.axes().data_rect().center(), 0.8, true, false);
    } else {
      view.axes().pan(i % 4 == 1 ? 0.05 : -0.05, 0);
    }
    view.group().refresh_now();
    view.repaint();
    times.cpu_ms.push_back(cpu_now_ms() - cpu_begin);
    times.wall_ms.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return times;
}

// Measures repaints of `count` curves. A wrong picture, or a missing repaint, is a failure.
bool measure(std::size_t count, std::size_t samples, double goal_ms, int repaints) {
  PlotView view({.title = "Loss", .y = {"Loss", Unit::one}});
  view.group().x_axis().set_following(false);
  std::vector<PlotCurve> curves;
  for (std::size_t i = 0; i < count; ++i) {
    const QString name = QString("agent-%1").arg(i);
    curves.push_back({.key = name, .name = name, .series = noisy_curve(i, samples)});
  }
  view.set_curves(std::move(curves));
  view.resize(kPictureSize);
  view.show();
  view.group().refresh_now();
  const double ink = inked(view.grab().toImage());
  if (ink < 0.03) {
    fmt::print(stderr, "{} x {}: only {:.1f} % of the picture is painted\n", count, samples,
               100 * ink);
    return false;
  }
  const auto before = view.paints();
  const RepaintTimes times = repaint(view, repaints);
  const Spread spread = spread_of(times.wall_ms);
  if (view.paints() - before != static_cast<std::uint64_t>(repaints)) {
    fmt::print(stderr, "{} of {} repaints happened\n", view.paints() - before, repaints);
    return false;
  }
  fmt::print(
      "{:>3} x {:>7} samples: median {:6.2f} ms, {:.2f} to {:.2f}; of the processor {:.2f}; goal "
      "{:.0f} ms: {}\n",
      count, samples, spread.median, spread.low, spread.high, spread_of(times.cpu_ms).median,
      goal_ms, spread.median <= goal_ms ? "reached" : "missed");
  return true;
}

}  // namespace
}  // namespace tributary::dashboard

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  const int repaints = argc > 1 ? std::max(1, std::atoi(argv[1])) : 200;
  using tributary::dashboard::measure;
  const bool all = measure(1, 10000, 15, repaints) && measure(1, 1000000, 15, repaints) &&
                   measure(16, 100000, 40, repaints) && measure(64, 100000, 40, repaints);
  return all ? 0 : 1;
}
