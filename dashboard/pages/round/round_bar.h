// The bar above a round: its number, the rounds that there are, and the way to others.
#pragma once

#include <QWidget>
#include <cstdint>
#include <optional>

class QLabel;
class QPushButton;
class QSpinBox;

namespace tributary::dashboard {

class RoundBar : public QWidget {
  Q_OBJECT

 public:
  struct Place {
    std::uint64_t first = 0;  // of the rounds that there are
    std::uint64_t last = 0;
    std::uint64_t round = 0;  // that is wanted
  };

  explicit RoundBar(QWidget* parent = nullptr);

  // No place: there is no round yet. `follows_newest`: no round was chosen.
  void show_place(const std::optional<Place>& place, bool follows_newest);

 signals:
  void round_chosen(std::uint64_t round);
  void step_wanted(int rounds);
  void newest_wanted();

 private:
  QSpinBox* number_ = nullptr;
  QLabel* range_ = nullptr;
  QPushButton* previous_ = nullptr;
  QPushButton* next_ = nullptr;
  QPushButton* newest_ = nullptr;
};

}  // namespace tributary::dashboard
