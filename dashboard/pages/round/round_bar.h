// The bar above a round: the number of the round, the range of existing rounds, and buttons to move
// between them. GUI thread only.
//
// It only shows a place and emits what the user wants; the page decides which round that is and
// calls show_place() again.
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
    std::uint64_t first = 0;  // first existing round
    std::uint64_t last = 0;
    std::uint64_t round = 0;  // selected round
  };

  explicit RoundBar(QWidget* parent = nullptr);

  // Without a place the job has no round yet. `follows_newest`: the user has not chosen a round.
  void show_place(const std::optional<Place>& place, bool follows_newest);

 signals:
  void round_chosen(std::uint64_t round);
  // The user wants to move by this number of rounds.
  void step_requested(int rounds);
  void newest_requested();

 private:
  QSpinBox* number_ = nullptr;
  QLabel* range_ = nullptr;
  QPushButton* previous_ = nullptr;
  QPushButton* next_ = nullptr;
  QPushButton* newest_ = nullptr;
};

}  // namespace tributary::dashboard
