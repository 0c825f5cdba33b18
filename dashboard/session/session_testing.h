// What tests of those who look at open runs need: an application without a display, and to wait for
// what a thread brings.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QDeadlineTimer>
#include <QTest>
#include <functional>

#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {

// Whether it came true, in a time that a loaded machine has as well.
inline bool happens(const std::function<bool()>& what) {
  const QDeadlineTimer end(60'000);
  while (!what()) {
    if (end.hasExpired()) return false;
    QTest::qWait(2);
  }
  return true;
}

}  // namespace tributary::dashboard
