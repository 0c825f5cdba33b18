// The dashboard across a network connection: what it shows, what it may change, and what happens
// when the coordinator is killed.
#include <QImage>
#include <QProcess>
#include <cstdlib>

#include "core/net/access/join_file.h"
#include "core/store/testing/folder_testing.h"
#include "dashboard/window/open_runs.h"
#include "tests/dashboard/control_federation.h"
#include "tests/end_to_end/federation/tcp.h"

namespace tributary::dashboard {
namespace {

using testing::HasSubstr;

constexpr int kPictureWaitMs = 240'000;

// Returns a port that is free now. It must be known before the coordinator that will use it starts.
std::uint16_t free_port() {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = end_to_end::loopback(0);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(file, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(file, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(file);
  return ntohs(address.sin_port);
}

// The address for watchers, chosen before the federation starts.
class WatchPlace {
 protected:
  WatchPlace() { std::ofstream(list()) << ""; }

  std::string list() const { return folder_ / "watchers.allow"; }
  std::string join_file(const std::string& id) const { return folder_ / (id + ".join"); }
  static end_to_end::FederationOptions with_watch(const WatchPlace& place,
                                                  end_to_end::FederationOptions options) {
    options.coordinator_settings = {"watch.endpoint=" + place.endpoint_,
                                    "watch.allow_file=" + place.list(),
                                    "watch.operators=[\"anna\"]"};
    return options;
  }

  store_testing::Folder folder_;
  std::string endpoint_ = "tcp://127.0.0.1:" + std::to_string(free_port());
};

// A real coordinator with a port for watchers. Anna is an operator, ben may only watch.
class Watching : protected WatchPlace, public ControlFederation {
 protected:
  Watching() : ControlFederation(with_watch(*this, options())) {
    EXPECT_EQ(write_public_key(federation_.path("coordinator.key.pub"),
                               federation_.keys_of_coordinator().public_key)
                  .text(),
              "ok");
    join("anna");
    join("ben");
  }

  // Uses the command that docs/dashboard.md shows.
  void join(const std::string& id) {
    const std::string command =
        std::string(TRIBUTARY_CLI) + " keys join " + id + " --coordinator " + endpoint_ +
        " --list '" + list() + "' --coordinator-key-file '" +
        federation_.path("coordinator.key.pub") + "' --out '" + join_file(id) + "' > /dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void connect_as(const std::string& id) {
    const Result<RunOrigin> origin = origin_of_join_file(join_file(id), "");
    ASSERT_TRUE(origin.ok()) << origin.status().text();
    open(*origin);
  }
  bool agent_is(const std::string& id, bool connected) {
    return happens([&] {
      for (const AgentRow& row : run_->view().agents()) {
        if (row.info.agent_id == id) return row.info.connected == connected;
      }
      return false;
    });
  }
};

// The table has as many rows as its last round number: no round is missing or doubled.
TEST_F(Watching, ShowsTheSameAsTheFile) {
  federation_.start_all();
  connect_as("ben");
  EXPECT_EQ(run_->name().toStdString(), endpoint_.substr(6));
  ASSERT_TRUE(reaches(5)) << run_->trouble().text();
  EXPECT_TRUE(happens([&] { return run_->caught_up(); }));
  const RoundTable& table = *run_->view().rounds(run_->job());
  EXPECT_EQ(table.size(), table.columns.round.back()) << "each round once";
}

// Pause, resume, submit and stop by the page's buttons, and the coordinator's state after each.
TEST_F(Watching, AnOperatorChangesJobs) {
  federation_.start_all();
  connect_as("anna");
  ASSERT_TRUE(ready()) << page_->presence().toStdString();
  ASSERT_TRUE(is("test", wire::JobState::running));
  press(page_->jobs().pause());
  ASSERT_TRUE(is("test", wire::JobState::paused)) << page_->answers().toStdString();
  press(page_->jobs().resume());
  ASSERT_TRUE(is("test", wire::JobState::running)) << page_->answers().toStdString();
  choose_file(write("good.toml", "name = \"second\"\nrounds = 3\nparameters = 100\n"));
  press(page_->submit_form().submit());
  ASSERT_TRUE(is("second", wire::JobState::running)) << page_->answers().toStdString();
  page_->jobs().table().select_row(0);
  press(page_->jobs().stop());
  press(page_->confirm_bar().yes());
  ASSERT_TRUE(is("test", wire::JobState::stopped)) << page_->answers().toStdString();
}

// Revoking disconnects the agent at once; it reconnects by itself when it is allowed again.
TEST_F(Watching, AnOperatorSendsAnAgentAwayAndLetsItIn) {
  federation_.start_all();
  connect_as("anna");
  ASSERT_TRUE(ready()) << page_->presence().toStdString();
  ASSERT_TRUE(agent_is("agent-1", true));
  AccessForm& form = page_->access_form();
  ASSERT_TRUE(happens([&] { return form.agent().findText("agent-1") >= 0; }));
  form.agent().setEditText("agent-1");
  press(form.revoke());
  press(page_->confirm_bar().yes());
  ASSERT_TRUE(answers_contain("revoke agent-1: done")) << page_->answers().toStdString();
  ASSERT_TRUE(agent_is("agent-1", false));

  const Result<KeyPair> keys = read_key_pair(federation_.path("agent-1.key"));
  ASSERT_TRUE(keys.ok());
  form.id().setText("agent-1");
  form.key().setText(QString::fromStdString(key_text(keys->public_key)));
  press(form.allow());
  ASSERT_TRUE(answers_contain("allow agent-1: done")) << page_->answers().toStdString();
  EXPECT_TRUE(agent_is("agent-1", true));
}

// The page names the setting that would make ben an operator.
TEST_F(Watching, AnObserverCanWatchButChangeNothing) {
  federation_.start_all();
  connect_as("ben");
  ASSERT_TRUE(not_ready());
  ASSERT_TRUE(reaches(3));
  ASSERT_TRUE(happens([&] { return page_->presence().contains("may watch"); }))
      << page_->presence().toStdString();
  EXPECT_THAT(page_->presence().toStdString(), HasSubstr("watch.operators"));
  EXPECT_FALSE(page_->jobs().pause().isEnabled());
  EXPECT_FALSE(page_->jobs().stop().isEnabled());
  choose_file(write("good.toml", "name = \"second\"\nrounds = 3\nparameters = 100\n"));
  EXPECT_FALSE(page_->submit_form().submit().isEnabled());
}

// Two mistakes: a key that the coordinator does not know, and a coordinator that has another key.
TEST_F(Watching, AKeyThatIsNotOnTheListGetsThatAnswer) {
  federation_.start_coordinator();
  const Result<JoinFile> anna = read_join_file(join_file("anna"));
  ASSERT_TRUE(anna.ok());
  JoinFile stranger = *anna;
  stranger.keys = make_key_pair().value();
  open(origin_of_coordinator(stranger));
  ASSERT_TRUE(happens([&] { return !run_->trouble().ok(); }));
  ASSERT_TRUE(happens([&] { return run_->trouble().code() == StatusCode::permission_denied; }))
      << run_->trouble().text();
  EXPECT_FALSE(run_->trouble().fault().remedy.empty());
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);

  JoinFile misled = *anna;
  misled.coordinator_key = make_key_pair().value().public_key;
  open(origin_of_coordinator(misled));
  ASSERT_TRUE(happens([&] { return !run_->trouble().ok(); }));
  EXPECT_FALSE(run_->view().jobs().size() > 0) << "nothing of another coordinator is shown";
}

// After a restart the reader continues behind the last round that it has.
TEST_F(Watching, AKilledCoordinatorIsWaitedFor) {
  federation_.start_all();
  connect_as("anna");
  OverviewPage overview(context_);
  overview.set_runs({run_.get()});
  overview.resize(800, 600);
  overview.show();
  ASSERT_TRUE(ready());
  ASSERT_TRUE(reaches(5));
  federation_.coordinator().kill();
  ASSERT_TRUE(happens([&] { return run_->trouble().code() == StatusCode::unavailable; }))
      << run_->trouble().text();
  EXPECT_GE(rounds(), 5u) << "what was shown stays in sight";
  ASSERT_TRUE(not_ready());
  const std::uint64_t before = rounds();
  federation_.start_coordinator();
  ASSERT_TRUE(reaches(before + 3)) << run_->trouble().text();
  EXPECT_TRUE(run_->trouble().ok());
  const RoundTable& table = *run_->view().rounds(run_->job());
  EXPECT_EQ(table.size(), table.columns.round.back()) << "each round once";
  ASSERT_TRUE(ready()) << page_->presence().toStdString();
  overview.refresh();
  EXPECT_TRUE(overview.settled());
  press(page_->jobs().pause());
  EXPECT_TRUE(is("test", wire::JobState::paused)) << page_->answers().toStdString();
  overview.set_runs({});
}

// The program in a process of its own, with the key of an observer.
TEST_F(Watching, APictureIsWrittenAcrossTheNetworkToo) {
  federation_.start_all();
  ASSERT_TRUE(federation_.committed(5));
  QProcess program;
  program.start(TRIBUTARY_DASHBOARD,
                {"--connect", QString::fromStdString(endpoint_), "--key",
                 QString::fromStdString(join_file("ben")), "--page", "overview", "--export-png",
                 QString::fromStdString(federation_.path("out.png"))});
  ASSERT_TRUE(program.waitForFinished(kPictureWaitMs));
  EXPECT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
  const QImage picture(QString::fromStdString(federation_.path("out.png")));
  EXPECT_EQ(picture.size(), QSize(1280, 800));
}

// Both show the same run, but they are two sources with a key each.
TEST_F(Watching, AFileAndAConnectionAreComparedInColoursOfTheirOwn) {
  federation_.start_all();
  OpenRuns runs;
  const Result<RunOrigin> origin = origin_of_join_file(join_file("ben"), "");
  ASSERT_TRUE(origin.ok());
  ASSERT_EQ(runs.open(origin_of_file(federation_.coordinator_journal())).text(), "ok");
  ASSERT_EQ(runs.open(*origin).text(), "ok");
  EXPECT_EQ(runs.open(*origin).code(), StatusCode::already_exists);
  EXPECT_NE(runs.runs()[0]->key(), runs.runs()[1]->key());
  EXPECT_TRUE(happens([&] { return runs.caught_up(); }));
  EXPECT_TRUE(happens([&] {
    return runs.runs()[0]->job_info() != nullptr && runs.runs()[1]->job_info() != nullptr;
  }));
}

}  // namespace
}  // namespace tributary::dashboard
