// The panel beside the chart of a round: the reason of its plan, the bits by layer, and its facts.
// GUI thread only.
//
// It owns its labels, copies the texts and shows them without markup. The caller has passed texts
// from a run through plain_text() (texts.h).
#pragma once

#include <QWidget>
#include <vector>

#include "dashboard/pages/round/layer_bits_view.h"
#include "dashboard/pages/round/round_facts.h"

class QLabel;
class QScrollArea;

namespace tributary::dashboard {

class RoundSide : public QWidget {
  Q_OBJECT

 public:
  explicit RoundSide(QWidget* parent = nullptr);

  void show_facts(const QString& reason, const std::vector<Fact>& facts,
                  std::vector<LayerBits> layers);
  void clear();

 private:
  QLabel* reason_ = nullptr;
  LayerBitsView* layer_bits_ = nullptr;
  QScrollArea* facts_area_ = nullptr;
};

}  // namespace tributary::dashboard
