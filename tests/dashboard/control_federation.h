// A fixture: a federation of processes, and the dashboard's control page connected to it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/net/access/allow_list.h"
#include "dashboard/pages/control/control_page.h"
#include "dashboard/pages/overview/overview_page.h"
#include "dashboard/session/session_testing.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::dashboard {

class ControlFederation : public testing::Test {
 protected:
  // More rounds than any test runs.
  static constexpr std::uint64_t kForEver = 1'000'000;

  static end_to_end::FederationOptions options() {
    return {.agents = 2,
            .rounds = kForEver,
            .parameters = 2'000,
            .agent_settings = {"trainer.train_ms=20"},
            .exit_when_done = false};
  }

  explicit ControlFederation(end_to_end::FederationOptions given = options())
      : federation_(std::move(given)) {}
  void TearDown() override { close(); }

  void open(const RunOrigin& origin) {
    close();
    run_ = std::make_unique<RunSession>(
        RunSessionOptions{.origin = origin, .look_every = std::chrono::milliseconds(20)});
    page_ = std::make_unique<ControlPage>(context_);
    page_->resize(1280, 800);
    page_->set_runs({run_.get()});
    QObject::connect(run_.get(), &RunSession::changed, page_.get(), &Page::refresh);
    page_->show();
  }
  void close() {
    page_.reset();
    run_.reset();
  }

  bool ready() {
    return happens([this] { return page_->post().ready(); });
  }
  bool not_ready() {
    return happens([this] { return page_->post().known() && !page_->post().ready(); });
  }
  // Waits until the answers contain the text.
  bool answers_contain(const char* text) {
    return happens([&] { return page_->answers().contains(text); });
  }
  wire::JobState state_of(const std::string& job) const {
    for (const JobInfo& info : run_->view().jobs()) {
      if (info.name == job) return info.state;
    }
    return wire::JobState::unspecified;
  }
  bool is(const std::string& job, wire::JobState state) {
    return happens([&] { return state_of(job) == state; });
  }
  std::uint64_t rounds() const {
    const RoundTable* const table = run_->view().rounds(run_->job());
    return table && table->size() > 0 ? table->columns.round.back() : 0;
  }
  bool reaches(std::uint64_t round) {
    return happens([&] { return rounds() >= round; });
  }
  void press(QPushButton& button) {
    ASSERT_TRUE(happens([&] { return button.isEnabled(); })) << button.text().toStdString();
    QTest::mouseClick(&button, Qt::LeftButton);
  }
  std::string write(const std::string& name, const std::string& toml) {
    std::ofstream(federation_.path(name)) << toml;
    return federation_.path(name);
  }
  void choose_file(const std::string& path) {
    page_->submit_form().file().setText(QString::fromStdString(path));
    QTest::keyClick(&page_->submit_form().file(), Qt::Key_Return);
  }

  end_to_end::Federation federation_;
  PageContext context_;
  std::unique_ptr<RunSession> run_;
  std::unique_ptr<ControlPage> page_;
};

}  // namespace tributary::dashboard
