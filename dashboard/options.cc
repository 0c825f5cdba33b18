#include "dashboard/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "dashboard/window/open_runs.h"

namespace tributary::dashboard {
namespace {

// Below the smallest side pages have no space for their labels; the largest one bounds the memory.
constexpr int kPictureSideMin = 400;
constexpr int kPictureSideMax = 8192;
constexpr double kScaleMax = 4;
constexpr double kWaitMaxS = 3600;

constexpr const char* kDetails =
    R"(A run is the journal of a coordinator, or a coordinator on the network. Runs that are open at the
same time are compared. Journals are only read, so the coordinator may be running.

examples:
  tributary-dashboard --open run.db
  tributary-dashboard --open monday/run.db --open today/run.db --page traffic
  tributary-dashboard --open run.db --export-png overview.png --page overview --size 2560x1440
  tributary-dashboard --connect anna.join
  tributary-dashboard --connect tcp://coordinator.lan:4641 --key anna.join --open old/run.db
)";

// Every error of the command line ends with the same remedy.
Status wrong_option(std::string what, std::string expected, std::string got) {
  return {StatusCode::invalid_argument,
          {.what = std::move(what),
           .expected = std::move(expected),
           .got = std::move(got),
           .remedy = "see 'tributary-dashboard --help'"}};
}

std::string joined(const std::vector<QString>& names) {
  std::string all;
  for (const QString& name : names) all += (all.empty() ? "" : ", ") + name.toStdString();
  return all;
}

Result<QSize> parse_size(const std::string& text) {
  const QStringList sides = QString::fromStdString(text).split('x');
  bool is_width = false;
  bool is_height = false;
  const QSize size =
      sides.size() == 2 ? QSize(sides[0].toInt(&is_width), sides[1].toInt(&is_height)) : QSize();
  const bool fits = std::min(size.width(), size.height()) >= kPictureSideMin &&
                    std::max(size.width(), size.height()) <= kPictureSideMax;
  if (is_width && is_height && fits) return size;
  return wrong_option(
      "--size", fmt::format("WIDTHxHEIGHT, each {} to {}", kPictureSideMin, kPictureSideMax), text);
}

// NaN is refused, because it compares false.
Status within(const char* option, double value, double max) {
  if (value > 0 && value <= max) return {};
  return wrong_option(option, fmt::format("more than 0, at most {}", max),
                      fmt::format("{}", value));
}

// Option values as typed, before they are interpreted.
struct Typed {
  std::string page, palette = "system", picture, size;
  std::vector<std::string> connect, keys;
};

// Breaks a list behind the comma nearest to its middle.
std::string in_two_lines(std::string list) {
  const std::size_t comma = list.rfind(", ", list.size() / 2);
  if (comma != std::string::npos) list[comma + 1] = '\n';
  return list;
}

void declare(CLI::App& app, const std::string& pages, Options& options, Typed& typed) {
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("tributary-dashboard ") + TRIBUTARY_VERSION,
                       "print the version");
  app.footer(kDetails);
  app.add_option("--open", options.runs,
                 "journal of a coordinator, followed while it grows; may be repeated")
      ->type_name("RUN.db")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--connect", typed.connect,
                 "coordinator on the network: a join file, or tcp://HOST:PORT\n"
                 "with --key; may be repeated")
      ->type_name("FILE.join|ENDPOINT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--key", typed.keys,
                 "join file for --connect ENDPOINT; one for each endpoint,\n"
                 "in the same order")
      ->type_name("FILE.join")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--page", typed.page,
                 "page to show (the one shown last) or to export:\n" + in_two_lines(pages))
      ->type_name("NAME");
  app.add_option("--palette", typed.palette,
                 "colour theme: system, dark or light (system; light for a picture)")
      ->type_name("NAME");
  app.add_option("--export-png", typed.picture,
                 "write a picture of the page and exit; needs no display")
      ->type_name("FILE");
  app.add_option("--size", typed.size,
                 "size of the picture in pixels, each side 400 to 8192 (1280x800)")
      ->type_name("WxH");
  app.add_option("--scale", options.scale,
                 "factor of text, lines and pixels of the picture, at most 4 (1)")
      ->type_name("S");
  app.add_option("--wait-s", options.wait_s,
                 "seconds to wait for a complete picture, at most 3600 (60)")
      ->type_name("N");
}

constexpr std::string_view kEndpointSign = "://";

// Detects HOST:PORT without a scheme, to suggest the complete endpoint.
bool looks_like_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string::npos && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

// A join file contains its endpoint and takes no --key. Endpoints take the keys in their order, and
// no key may be left over, because it would belong to an endpoint that was forgotten.
Status take_connections(const Typed& typed, Options& options) {
  std::size_t keys_used = 0;
  for (const std::string& where : typed.connect) {
    const bool is_endpoint = where.find(kEndpointSign) != std::string::npos;
    if (!is_endpoint && looks_like_endpoint(where)) {
      return wrong_option("--connect", "a join file, or an endpoint as tcp://" + where, where);
    }
    if (!is_endpoint) {
      options.connections.push_back({.key_file = where});
      continue;
    }
    if (keys_used == typed.keys.size()) {
      return {StatusCode::invalid_argument,
              {.what = "--connect " + where,
               .expected = "--key FILE for this endpoint",
               .got = typed.keys.empty() ? "none" : "fewer keys than endpoints",
               .remedy = "create the file with 'tributary keys join' where the coordinator runs; "
                         "docs/dashboard.md has the commands"}};
    }
    options.connections.push_back({.key_file = typed.keys[keys_used++], .endpoint = where});
  }
  if (keys_used < typed.keys.size()) {
    return wrong_option("--key", "a --connect tcp://HOST:PORT for this key", typed.keys[keys_used]);
  }
  return {};
}

Status check_page(const std::string& page, const std::vector<QString>& pages) {
  const bool known = std::ranges::find(pages, QString::fromStdString(page)) != pages.end();
  return page.empty() || known ? Status() : wrong_option("--page", "one of " + joined(pages), page);
}

// A picture is made without a user, so the page and the run must be given.
Status check_picture(const Options& options) {
  if (options.picture.isEmpty()) return {};
  if (options.page.isEmpty()) return wrong_option("--export-png", "the option --page", "none");
  if (options.runs.empty() && options.connections.empty()) {
    return wrong_option("--export-png", "the option --open or --connect", "none");
  }
  return {};
}

Status take(const Typed& typed, const std::vector<QString>& pages, Options& options) {
  TRIBUTARY_TRY(take_connections(typed, options));
  TRIBUTARY_TRY(check_page(typed.page, pages));
  const auto theme = theme_named(QString::fromStdString(typed.palette));
  if (!theme) return wrong_option("--palette", "system, dark or light", typed.palette);
  if (!typed.size.empty()) {
    TRIBUTARY_ASSIGN(options.picture_size, parse_size(typed.size));
  }
  TRIBUTARY_TRY(within("--scale", options.scale, kScaleMax));
  TRIBUTARY_TRY(within("--wait-s", options.wait_s, kWaitMaxS));
  const std::size_t runs = options.runs.size() + options.connections.size();
  if (runs > OpenRuns::kRunsMax) {
    return wrong_option("--open", fmt::format("at most {} runs", OpenRuns::kRunsMax),
                        fmt::format("{}", runs));
  }
  options.page = QString::fromStdString(typed.page);
  options.theme = *theme;
  options.picture = QString::fromStdString(typed.picture);
  return check_picture(options);
}

}  // namespace

Result<Options> parse_options(const std::vector<QString>& pages, int argc,
                              const char* const* argv) {
  Options options;
  Typed typed;
  CLI::App app("shows runs of a federation: learning, traffic and the planner's decisions",
               "tributary-dashboard");
  declare(app, joined(pages), options, typed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.answer = app.help();
    return options;
  } catch (const CLI::CallForVersion&) {
    options.answer = app.version() + "\n";
    return options;
  } catch (const CLI::Error& error) {
    return Status(StatusCode::invalid_argument,
                  {.what = error.what(), .remedy = "see 'tributary-dashboard --help'"});
  }
  TRIBUTARY_TRY(take(typed, pages, options));
  return options;
}

}  // namespace tributary::dashboard
