// A fixture with one page and with runs that are written by the coordinator's own code.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/run/run_testing.h"
#include "core/store/testing/folder_testing.h"
#include "dashboard/pages/common/page.h"
#include "dashboard/session/session_testing.h"

namespace tributary::dashboard {

template <typename OnePage>
class PageTest : public testing::Test {
 protected:
  using RunWriter = run_testing::RunWriter;

  RunWriter& writer(const std::string& name) {
    auto& made = writers_[name];
    if (!made) made = std::make_unique<RunWriter>(folder_ / name);
    return *made;
  }
  void open(const std::string& name) {
    runs_.push_back(std::make_unique<RunSession>(
        RunSessionOptions{.origin = origin_of_file(folder_ / name, std::chrono::milliseconds(5)),
                          .look_every = std::chrono::milliseconds(5)}));
    context_.group().colours().slot_of(runs_.back()->key());
    notify_page();
  }
  void close(const std::string& name) {
    std::vector<std::unique_ptr<RunSession>> left;
    std::unique_ptr<RunSession> closed;
    for (auto& run : runs_) {
      const bool is_it = run->name().toStdString() == name;
      (is_it ? closed : left.emplace_back()) = std::move(run);
    }
    runs_ = std::move(left);
    notify_page();
  }
  void show() {
    page_.resize(1280, 800);
    page_.show();
    page_.refresh();
  }
  void notify_page() {
    std::vector<RunSession*> all;
    for (const auto& run : runs_) all.push_back(run.get());
    page_.set_runs(all);
  }

  store_testing::Folder folder_;
  std::map<std::string, std::unique_ptr<RunWriter>> writers_;
  PageContext context_;
  std::vector<std::unique_ptr<RunSession>> runs_;  // must outlive the page
  OnePage page_{context_};
};

}  // namespace tributary::dashboard
