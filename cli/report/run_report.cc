#include "cli/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/report/run_page.h"
#include "cli/report/run_pictures.h"
#include "cli/report/run_tables.h"
#include "cli/report/svg/data_uri.h"
#include "core/base/files/file.h"

namespace tributary::report {
namespace {

// Limit of one picture of the dashboard, which is embedded into the page.
constexpr std::uint64_t kPageFileBytesMax = 16u << 20;

// Writes into the report's folder and lists the complete files in the report.
class Folder {
 public:
  Folder(std::string path, RunReport& report) : path_(std::move(path)), report_(report) {}

  Status make() const {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (!error) return {};
    return Status(StatusCode::io_error, {.what = fmt::format("folder '{}'", path_),
                                         .expected = "a folder that exists or can be created",
                                         .got = error.message(),
                                         .remedy = "choose another folder with --out"});
  }

  // Reads a picture that is already in the folder.
  Result<ShownPicture> take(const PagePicture& picture) const {
    std::string path = (std::filesystem::path(path_) / picture.file).string();
    TRIBUTARY_ASSIGN(const Bytes bytes, read_file(path, kPageFileBytesMax));
    report_.files.push_back(std::move(path));
    return ShownPicture{.title = picture.title, .source = data_uri("image/png", bytes)};
  }

  Status write(const std::string& name, const std::string& text) const {
    std::string path = (std::filesystem::path(path_) / name).string();
    TRIBUTARY_TRY(write_file_atomically(path, bytes_of(text)));
    report_.files.push_back(std::move(path));
    return {};
  }

 private:
  std::string path_;
  RunReport& report_;
};

}  // namespace

Result<RunReport> write_report(const ReportOptions& options) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<RunFile> file, RunFile::open(options.run_file));
  TRIBUTARY_ASSIGN(const RunData data, read_run(*file, options.job));
  RunReport report;
  report.figures = figures_of(data);
  const std::vector<Section> sections = sections_of(data, report.figures);
  // The journal is read completely before the folder is created, so a wrong name leaves no empty
  // folder.
  const Folder folder(options.folder, report);
  TRIBUTARY_TRY(folder.make());
  std::vector<ShownPicture> pictures;
  for (const PagePicture& each : options.pictures) {
    TRIBUTARY_ASSIGN(pictures.emplace_back(), folder.take(each));
  }
  TRIBUTARY_TRY(folder.write("report.html", page_of(data, report.figures, sections, pictures)));
  report.page = report.files.back();
  // The page is written after the pictures that it contains, but listed first.
  std::rotate(report.files.begin(), report.files.end() - 1, report.files.end());
  for (const Section& section : sections) {
    for (const Figure& figure : section.figures) {
      TRIBUTARY_TRY(folder.write(figure.name + ".svg", svg_of(figure, true)));
    }
  }
  TRIBUTARY_TRY(folder.write("rounds.csv", rounds_csv(data)));
  TRIBUTARY_TRY(folder.write("metrics.csv", metrics_csv(data)));
  TRIBUTARY_TRY(folder.write("switches.csv", switches_csv(report.figures)));
  return report;
}

}  // namespace tributary::report
