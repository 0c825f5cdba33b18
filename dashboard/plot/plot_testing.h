// A QApplication without a display for widget tests, and common helpers.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QImage>
#include <QPalette>
#include <QTest>
#include <cmath>
#include <memory>

#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {

// Created before the first test and destroyed after the last, so that listing the tests needs no
// application.
class ApplicationForTests : public testing::Environment {
 public:
  void SetUp() override {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    application_ = std::make_unique<QApplication>(argc_, argv_);
  }
  void TearDown() override { application_.reset(); }

 private:
  int argc_ = 1;
  char name_[8] = "test";
  char* argv_[2] = {name_, nullptr};
  std::unique_ptr<QApplication> application_;
};

inline testing::Environment* const kApplicationForTests =
    testing::AddGlobalTestEnvironment(new ApplicationForTests);

inline QPalette palette_for_tests(bool dark) {
  QPalette palette;
  palette.setColor(QPalette::Base, dark ? QColor(24, 26, 30) : QColor(255, 255, 255));
  palette.setColor(QPalette::Text, dark ? QColor(230, 230, 230) : QColor(20, 20, 20));
  palette.setColor(QPalette::Window, dark ? QColor(36, 38, 42) : QColor(240, 240, 240));
  palette.setColor(QPalette::WindowText, palette.color(QPalette::Text));
  palette.setColor(QPalette::Button, palette.color(QPalette::Window));
  palette.setColor(QPalette::ButtonText, palette.color(QPalette::Text));
  return palette;
}

// Returns the share of pixels that differ from the background.
inline double inked_share(const QImage& picture, QColor ground) {
  std::size_t found = 0;
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      found += picture.pixelColor(x, y) != ground ? 1U : 0U;
    }
  }
  return static_cast<double>(found) / picture.width() / picture.height();
}

// Few pixels of a smooth line have exactly its colour, so each channel may differ by `tolerance`.
inline bool has_colour(const QImage& picture, QColor colour, int tolerance = 0) {
  const auto near = [&](int a, int b) { return std::abs(a - b) <= tolerance; };
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      const QColor one = picture.pixelColor(x, y);
      if (near(one.red(), colour.red()) && near(one.green(), colour.green()) &&
          near(one.blue(), colour.blue())) {
        return true;
      }
    }
  }
  return false;
}

// Returns the series y = f(x) for x = 0, 1, ..., count - 1.
template <typename Function>
std::shared_ptr<Series> series_of_function(int count, Function f) {
  auto series = std::make_shared<Series>(std::size_t{1} << 20);
  for (int x = 0; x < count; ++x) series->append({double(x), f(double(x))});
  return series;
}

}  // namespace tributary::dashboard
