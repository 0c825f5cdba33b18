// The program as a process: pictures without a display, and its errors if a display is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QImage>
#include <QProcess>
#include <QProcessEnvironment>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/base/exit_codes.h"
#include "core/net/access/join_file.h"
#include "core/run/run_testing.h"
#include "core/run/view/run_view.h"
#include "core/store/testing/folder_testing.h"

namespace tributary::dashboard {
namespace {

using run_testing::RunWriter;

constexpr int kProgramWaitMs = 240'000;

struct Outcome {
  int code = -1;
  std::string out = {};
  std::string err = {};
};

// Without the variables that name a display, as in a script or a container.
Outcome run_program(const QStringList& arguments) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
    environment.remove(name);
  }
  process.setProcessEnvironment(environment);
  process.start(TRIBUTARY_DASHBOARD, arguments);
  EXPECT_TRUE(process.waitForFinished(kProgramWaitMs)) << arguments.join(' ').toStdString();
  return {.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          .out = process.readAllStandardOutput().toStdString(),
          .err = process.readAllStandardError().toStdString()};
}

// A blank picture has one or two colours.
std::size_t colours_in(const QImage& picture) {
  std::set<QRgb> found;
  for (int y = 0; y < picture.height(); y += 2) {
    for (int x = 0; x < picture.width(); x += 2) found.insert(picture.pixel(x, y));
  }
  return found.size();
}

// A journal with 20 rounds, a decision in each, and the program that draws it.
class DashboardProgram : public testing::Test {
 protected:
  std::string path(const std::string& name) { return folder_ / name; }
  QString q(const std::string& name) { return QString::fromStdString(path(name)); }

  void write_run(const std::string& name) {
    RunWriter writer(path(name));
    writer.job();
    writer.agents(true);
    for (std::uint64_t round = 1; round <= 20; ++round) {
      writer.round(round, {.decided = true});
      writer.metric(kAccuracyMetric, round, 1 - 1 / static_cast<double>(round + 1));
      writer.metric(kLossMetric, round, 2 / static_cast<double>(round));
      writer.link("a", "", 0.01, 1e-6 * static_cast<double>(round));
    }
    writer.event("agent_gone", "no heartbeat");
  }
  Outcome picture(const QString& page, const QStringList& more = {}) {
    return run_program(
        QStringList{"--open", q("run.db"), "--page", page, "--export-png", q("out.png")} + more);
  }

  store_testing::Folder folder_;
};

class DashboardPages : public DashboardProgram, public testing::WithParamInterface<const char*> {};

// More than 20 colours: text, curves and their antialiased edges.
TEST_P(DashboardPages, ArePicturesWithoutADisplay) {
  write_run("run.db");
  const Outcome outcome = picture(GetParam(), {"--palette", "dark"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("out.png"), std::string::npos) << outcome.out;
  const QImage image(q("out.png"));
  EXPECT_EQ(image.size(), QSize(1280, 800));
  EXPECT_GT(colours_in(image), 20u);
  EXPECT_LT(qGray(image.pixel(1, 1)), 80) << "the ground of the dark palette";
}

INSTANTIATE_TEST_SUITE_P(Each, DashboardPages,
                         testing::Values("overview", "traffic", "decisions", "agents", "round",
                                         "events", "control", "aggregator"),
                         [](const auto& tested) { return std::string(tested.param); });

// A scale of 2 is for high-resolution screens: the same layout with twice the pixels.
TEST_F(DashboardProgram, APictureHasTheSizeAndTheScaleThatWereAskedFor) {
  write_run("run.db");
  const Outcome outcome =
      picture("overview", {"--size", "800x500", "--scale", "2", "--palette", "light"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const QImage image(q("out.png"));
  EXPECT_EQ(image.size(), QSize(1600, 1000));
  EXPECT_GT(qGray(image.pixel(1, 1)), 200);
}

// --open may be given for each run.
TEST_F(DashboardProgram, ComparesRuns) {
  write_run("run.db");
  write_run("other.db");
  const Outcome outcome = picture("overview", {"--open", q("other.db")});
  EXPECT_EQ(outcome.code, kExitOk) << outcome.err;
}

// A picture of an error would be taken for a result.
TEST_F(DashboardProgram, ReportsAFileThatIsNoRunAndWritesNothing) {
  std::ofstream(path("run.db")) << "no database, but longer than the head of one";
  const Outcome outcome = picture("overview");
  EXPECT_EQ(outcome.code, exit_code(StatusCode::mismatch));
  EXPECT_NE(outcome.err.find("not a database"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path("out.png")));
}

// The exit code is that of the error, as for all programs (core/base/exit_codes.h).
TEST_F(DashboardProgram, ReportsAMissingFile) {
  EXPECT_EQ(picture("overview").code, exit_code(StatusCode::not_found));
}

// A script must end even if the coordinator never writes its journal.
TEST_F(DashboardProgram, DoesNotWaitForEver) {
  std::ofstream(path("run.db")).close();  // an empty file, as a coordinator creates it at its start
  const Outcome outcome = picture("overview", {"--wait-s", "0.3"});
  EXPECT_EQ(outcome.code, exit_code(StatusCode::unavailable)) << outcome.err;
}

// Found after the picture was drawn; it is an error nevertheless.
TEST_F(DashboardProgram, SaysWhereItCannotWrite) {
  write_run("run.db");
  const Outcome outcome = run_program(
      {"--open", q("run.db"), "--page", "overview", "--export-png", q("no/such/folder/out.png")});
  EXPECT_EQ(outcome.code, exit_code(StatusCode::io_error)) << outcome.err;
}

// Unknown pages and palettes, sizes and scales out of range, and pictures without a page or without
// a run.
TEST_F(DashboardProgram, RefusesInvalidOptions) {
  EXPECT_EQ(run_program({"--page", "nonsense"}).code, kExitUsage);
  EXPECT_EQ(run_program({"--palette", "pink"}).code, kExitUsage);
  EXPECT_EQ(picture("overview", {"--size", "10"}).code, kExitUsage);
  EXPECT_EQ(picture("overview", {"--scale", "0"}).code, kExitUsage);
  EXPECT_EQ(run_program({"--open", "a.db", "--export-png", "x.png"}).code, kExitUsage);
  EXPECT_EQ(run_program({"--page", "overview", "--export-png", "x.png"}).code, kExitUsage);
}

// Each error names the option or the command that is missing.
TEST_F(DashboardProgram, SaysHowToConnect) {
  const auto error_of = [](const QStringList& arguments, int code) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    return outcome.err;
  };
  using testing::HasSubstr;
  EXPECT_THAT(error_of({"--connect", "tcp://host:4641"}, kExitUsage), HasSubstr("--key FILE"));
  EXPECT_THAT(error_of({"--connect", "host:4641"}, kExitUsage), HasSubstr("tcp://host:4641"));
  EXPECT_THAT(error_of({"--key", q("anna.join")}, kExitUsage), HasSubstr("--connect"));
  EXPECT_THAT(error_of({"--connect", q("anna.join")}, exit_code(StatusCode::not_found)),
              HasSubstr("tributary keys join"));
  EXPECT_THAT(error_of({"--connect", "http://host:4641", "--key", q("anna.join")},
                       exit_code(StatusCode::invalid_argument)),
              HasSubstr("tcp://HOST:PORT"));
}

// As in the daemons: a secret key that others can read is no secret.
TEST_F(DashboardProgram, AKeyThatOthersCanReadIsRefused) {
  const KeyPair keys = make_key_pair().value();
  ASSERT_EQ(write_join_file(path("anna.join"), {.agent_id = "anna",
                                                .coordinator = "tcp://127.0.0.1:1",
                                                .coordinator_key = keys.public_key,
                                                .keys = keys})
                .text(),
            "ok");
  std::filesystem::permissions(path("anna.join"), std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  const Outcome outcome = run_program({"--connect", q("anna.join")});
  EXPECT_NE(outcome.code, kExitOk);
  EXPECT_THAT(outcome.err, testing::HasSubstr("chmod")) << outcome.err;
}

// Qt alone would end the process with a message about platform plugins.
TEST_F(DashboardProgram, WithoutADisplayItNamesTheAlternative) {
  write_run("run.db");
  const Outcome outcome = run_program({"--open", q("run.db")});
  EXPECT_EQ(outcome.code, exit_code(StatusCode::unavailable));
  EXPECT_NE(outcome.err.find("--export-png"), std::string::npos) << outcome.err;
}

// Help works without a display too, in lines of at most 100 characters.
TEST_F(DashboardProgram, PrintsItsVersionAndHelp) {
  const Outcome help = run_program({"--help"});
  EXPECT_EQ(help.code, kExitOk);
  for (const char* page :
       {"overview", "traffic", "decisions", "agents", "round", "events", "control", "aggregator"}) {
    EXPECT_NE(help.out.find(page), std::string::npos) << page << " in " << help.out;
  }
  EXPECT_NE(help.out.find("examples:\n  tributary-dashboard "), std::string::npos) << help.out;
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_EQ(run_program({"--version"}).out.rfind("tributary-dashboard ", 0), 0u);
}

}  // namespace
}  // namespace tributary::dashboard
