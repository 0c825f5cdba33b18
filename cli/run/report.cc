// tributary report: writes the report of a run.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/report/run_json.h"
#include "cli/report/run_report.h"
#include "cli/run/dashboard_pictures.h"
#include "cli/run/missing_in_answer.h"
#include "cli/text.h"
#include "core/run/units/quantity.h"

namespace tributary {
namespace {

// Without the dense size only the bytes are shown.
std::string bytes_text(std::uint64_t bytes, std::optional<std::uint64_t> dense) {
  std::string text = quantity_text(Unit::bytes, static_cast<double>(bytes));
  if (const auto ratio = report::ratio_of(dense, bytes)) {
    text += fmt::format(" (dense {}, {})", quantity_text(Unit::bytes, static_cast<double>(*dense)),
                        ratio_text(*ratio));
  }
  return text;
}

// A summary; the page has the details.
std::string text_of(const report::RunReport& made, const std::string& run_file) {
  const report::RunFigures& figures = made.figures;
  std::string text =
      fmt::format("job '{}', {}: {} rounds in {}\n", printable(figures.job_name), figures.state,
                  figures.rounds, quantity_text(Unit::seconds, figures.wall_s));
  if (figures.accuracy_final) {
    text += fmt::format("  accuracy   {}\n", quantity_text(Unit::share, *figures.accuracy_final));
  }
  if (figures.loss_final) {
    text += fmt::format("  loss       {}\n", quantity_text(Unit::one, *figures.loss_final));
  }
  text += fmt::format(
      "  up         {}\n  down       {}\n  switches   {}\n  replicas   {}\n\n{}\n",
      bytes_text(figures.bytes_up, figures.bytes_dense_up),
      bytes_text(figures.bytes_down, figures.bytes_dense_down), figures.switches.size(),
      figures.replicas_identical ? "identical" : "DIVERGED, see the report", printable(made.page));
  return text + missing_line(figures.missing, run_file);
}

// `dashboard` asks for pictures of the dashboard's pages in the report.
struct ReportCommand {
  report::ReportOptions options;
  bool dashboard = false;
};

// The dashboard opens the job that was submitted last; its pictures must not illustrate another
// job's report.
Status take_dashboard(report::ReportOptions& options, World& world) {
  if (!options.job.empty()) {
    return Status(StatusCode::invalid_argument, {.what = "--dashboard",
                                                 .expected = "the job submitted last",
                                                 .got = fmt::format("--job {}", options.job),
                                                 .remedy = "remove one of the two options"});
  }
  TRIBUTARY_ASSIGN(options.pictures,
                   draw_dashboard_pictures(options.run_file, options.folder,
                                           [&](std::uint64_t done, std::uint64_t total) {
                                             return world.progress.report("drawing pages", done,
                                                                          total);
                                           }));
  return {};
}

Result<Answer> run(const ReportCommand& command, World& world) {
  report::ReportOptions options = command.options;
  if (command.dashboard) TRIBUTARY_TRY(take_dashboard(options, world));
  TRIBUTARY_ASSIGN(const report::RunReport made, report::write_report(options));
  nlohmann::ordered_json json = report::json_of(made.figures);
  json["run_db"] = options.run_file;
  json["report"] = made.page;
  json["files"] = made.files;
  return Answer{.text = text_of(made, options.run_file), .data = json_text(json)};
}

}  // namespace

Command report_command() {
  const auto command = std::make_shared<ReportCommand>();
  report::ReportOptions& options = command->options;
  return {.noun = "report",
          .verb = {},
          .summary = "write a page with figures and pictures of a run from its journal",
          .details =
              "The coordinator may be running. Writes report.html, a self-contained page,\n"
              "its pictures as SVG files, and the figures as CSV files.\n\n"
              "examples:\n"
              "  tributary report --run run.db --out report\n"
              "  tributary report --run run.db --out report --dashboard\n"
              "  tributary report --run run.db --out report --job digits --json",
          .options = {{.name = "--run",
                       .value_name = "FILE",
                       .help = "journal of the coordinator",
                       .accept = accept_file(options.run_file),
                       .required = true},
                      {.name = "--out",
                       .value_name = "DIR",
                       .help = "folder to write; created if it does not exist",
                       .accept = accept_file(options.folder),
                       .required = true},
                      {.name = "--job",
                       .value_name = "NAME",
                       .help = "name or number of the job (the one submitted last)",
                       .accept = accept_text(options.job)},
                      {.name = "--dashboard",
                       .value_name = {},
                       .help = "include pages of the dashboard, also as PNG files; needs its "
                               "program",
                       .accept = accept_flag(command->dashboard)}},
          .run = [command](World& world) { return run(*command, world); }};
}

}  // namespace tributary
