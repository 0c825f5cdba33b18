#include <QApplication>
#include <QSettings>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <new>

#include "core/base/exit_codes.h"
#include "dashboard/options.h"
#include "dashboard/pages/all_pages.h"
#include "dashboard/window/main_window.h"
#include "dashboard/window/picture_export.h"

namespace tributary::dashboard {
namespace {

void complain_of(const std::string& text) { std::cerr << "tributary-dashboard: " << text << "\n"; }

bool has_display() { return std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY"); }

// Sets the environment that QApplication reads once, when it is constructed.
Status prepare_platform(const Options& options) {
  const bool picture = !options.picture.isEmpty();
  if (picture) {
    qputenv("QT_SCALE_FACTOR", QByteArray::number(options.scale));
    qputenv("QT_SCALE_FACTOR_ROUNDING_POLICY", "PassThrough");
    // Without a desktop session Qt prints warnings that do not concern a picture.
    if (!std::getenv("QT_LOGGING_RULES")) qputenv("QT_LOGGING_RULES", "default.warning=false");
  }
  if (std::getenv("QT_QPA_PLATFORM")) return {};
  // A picture never uses the display, even if there is one: it may be remote or broken.
  if (picture) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    return {};
  }
  if (has_display()) return {};
  return {StatusCode::unavailable,
          {.what = "display",
           .expected = "DISPLAY or WAYLAND_DISPLAY in the environment",
           .got = "neither",
           .remedy = "use --export-png FILE --page NAME, which needs no display"}};
}

Result<std::vector<RunOrigin>> origins_of(const Options& options) {
  std::vector<RunOrigin> origins;
  for (const std::string& path : options.runs) origins.push_back(origin_of_file(path));
  for (const ConnectOption& connection : options.connections) {
    TRIBUTARY_ASSIGN(RunOrigin origin,
                     origin_of_join_file(connection.key_file, connection.endpoint));
    origins.push_back(std::move(origin));
  }
  return origins;
}

// A picture without a stated theme is light, whatever the desktop's theme: the same command gives
// the same picture everywhere.
Status write_picture(const Options& options, const std::vector<RunOrigin>& origins) {
  apply_theme(options.theme == Theme::system ? Theme::light : options.theme);
  PageContext context;
  OpenRuns runs;
  for (const RunOrigin& origin : origins) TRIBUTARY_TRY(runs.open(origin));
  const std::unique_ptr<Page> page = make_page(options.page, context);
  page->set_runs(runs.runs());
  const PictureRequest request = {
      .file = options.picture,
      .size = options.picture_size,
      .wait_max = std::chrono::milliseconds(std::llround(options.wait_s * 1000))};
  Status status = export_page(request, runs, *page, context);
  page->set_runs({});
  if (status.ok()) {
    const QSize pixels = options.picture_size * options.scale;
    std::cout << options.picture.toStdString() << ": " << options.page.toStdString() << ", "
              << pixels.width() << "x" << pixels.height() << " pixels\n";
  }
  return status;
}

int show_window(const Options& options, const std::vector<RunOrigin>& origins) {
  apply_theme(options.theme);
  QSettings settings("Tributary", "dashboard");
  PageContext context;
  MainWindow window(settings, context, make_all_pages(context));
  for (const RunOrigin& origin : origins) window.open_run(origin);
  window.show();
  if (!options.page.isEmpty()) window.show_page(options.page);
  return QApplication::exec();
}

int run_dashboard(int argc, char** argv) {
  const Result<Options> options = parse_options(page_names(), argc, argv);
  if (!options.ok()) {
    complain_of(options.status().text());
    const bool usage = options.status().code() == StatusCode::invalid_argument;
    return usage ? kExitUsage : exit_code(options.status().code());
  }
  if (!options->answer.empty()) {
    std::cout << options->answer;
    return kExitOk;
  }
  const Result<std::vector<RunOrigin>> origins = origins_of(*options);
  if (!origins.ok()) {
    complain_of(origins.status().text());
    return exit_code(origins.status().code());
  }
  if (const Status prepared = prepare_platform(*options); !prepared.ok()) {
    complain_of(prepared.text());
    return exit_code(prepared.code());
  }
  // QApplication would otherwise interpret the program's own options.
  int arguments = 1;
  QApplication application(arguments, argv);
  QApplication::setApplicationName("tributary-dashboard");
  QApplication::setDesktopFileName("tributary-dashboard");
  if (options->picture.isEmpty()) return show_window(*options, *origins);
  const Status status = write_picture(*options, *origins);
  if (!status.ok()) complain_of(status.text());
  return exit_code(status.code());
}

}  // namespace
}  // namespace tributary::dashboard

int main(int argc, char** argv) {
  try {
    return tributary::dashboard::run_dashboard(argc, argv);
  } catch (const std::bad_alloc&) {
    tributary::dashboard::complain_of("resource_exhausted: memory: none left");
    return tributary::exit_code(tributary::StatusCode::resource_exhausted);
  } catch (const std::exception& error) {
    tributary::dashboard::complain_of(std::string("internal: ") + error.what());
    return tributary::kExitInternal;
  }
}
