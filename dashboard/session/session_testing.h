// Helpers for tests of open runs: a Qt application without a display, and a wait for results of a
// thread.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QDeadlineTimer>
#include <QTest>
#include <functional>

#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {

// Waits until `what` is true and returns false after a minute, which is enough on a loaded machine.
inline bool happens(const std::function<bool()>& what) {
  const QDeadlineTimer end(60'000);
  while (!what()) {
    if (end.hasExpired()) return false;
    QTest::qWait(2);
  }
  return true;
}

}  // namespace tributary::dashboard
