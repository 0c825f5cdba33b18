#include "dashboard/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "dashboard/window/open_runs.h"

namespace tributary::dashboard {
namespace {

constexpr int kPictureSideMin = 400;
constexpr int kPictureSideMax = 8192;
constexpr double kScaleMax = 4;
constexpr double kWaitMaxS = 3600;

constexpr const char* kExamples = R"(Examples:
  tributary-dashboard --open run.db
  tributary-dashboard --open monday/run.db --open today/run.db --page traffic
  tributary-dashboard --open run.db --export-png overview.png --page overview --size 2560x1440
  tributary-dashboard --connect anna.join
  tributary-dashboard --connect tcp://coordinator.lan:4641 --key anna.join --open old/run.db
)";

Status wrong_option(std::string what, std::string expected, std::string got) {
  return {StatusCode::invalid_argument,
          {.what = std::move(what),
           .expected = std::move(expected),
           .got = std::move(got),
           .remedy = "'tributary-dashboard --help' tells more"}};
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

void declare(CLI::App& app, Options& options, Typed& typed) {
  app.set_version_flag("--version", std::string("tributary-dashboard ") + TRIBUTARY_VERSION,
                       "the version");
  app.footer(kExamples);
  app.add_option("--open", options.runs,
                 "a coordinator's run.db; it is followed while it grows; repeatable")
      ->type_name("RUN.db")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--connect", typed.connect,
                 "a coordinator across the network: a join file, or tcp://HOST:PORT with --key; "
                 "repeatable")
      ->type_name("FILE.join|ENDPOINT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--key", typed.keys,
                 "the join file for a --connect ENDPOINT; one for each, in their order")
      ->type_name("FILE.join")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--page", typed.page, "the page in front, or in the picture")->type_name("NAME");
  app.add_option("--palette", typed.palette, "system, dark or light")->type_name("NAME");
  app.add_option("--export-png", typed.picture, "write a page's picture, and end; needs no display")
      ->type_name("FILE");
  app.add_option("--size", typed.size, "of the picture; 1280x800 otherwise")->type_name("WxH");
  app.add_option("--scale", options.scale, "of everything in the picture, pixels included")
      ->type_name("S");
  app.add_option("--wait-s", options.wait_s, "for a picture to be complete; 60 otherwise")
      ->type_name("N");
}

constexpr std::string_view kEndpointSign = "://";

// Detects HOST:PORT without a scheme, to suggest the complete endpoint.
bool looks_like_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string::npos && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string::npos;
}

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
               .expected = "--key FILE with it",
               .got = typed.keys.empty() ? "none" : "fewer than there are endpoints",
               .remedy = "'tributary keys join' makes such a file where the coordinator runs; "
                         "docs/dashboard.md has the commands"}};
    }
    options.connections.push_back({.key_file = typed.keys[keys_used++], .endpoint = where});
  }
  if (keys_used < typed.keys.size()) {
    return wrong_option("--key", "a --connect tcp://HOST:PORT that it is for",
                        typed.keys[keys_used]);
  }
  return {};
}

Status check_page(const std::string& page, const std::vector<QString>& pages) {
  const bool known = std::ranges::find(pages, QString::fromStdString(page)) != pages.end();
  return page.empty() || known ? Status() : wrong_option("--page", "one of " + joined(pages), page);
}

Status check_picture(const Options& options) {
  if (options.picture.isEmpty()) return {};
  if (options.page.isEmpty()) return wrong_option("--export-png", "--page with it", "none");
  if (options.runs.empty() && options.connections.empty()) {
    return wrong_option("--export-png", "--open or --connect with it", "none");
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
  CLI::App app("shows runs of a federation: what it learns, what it sends and why",
               "tributary-dashboard");
  declare(app, options, typed);
  app.get_option("--page")->description("the page in front, or in the picture: " + joined(pages));
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
                  {.what = error.what(), .remedy = "'tributary-dashboard --help' tells more"});
  }
  TRIBUTARY_TRY(take(typed, pages, options));
  return options;
}

}  // namespace tributary::dashboard
