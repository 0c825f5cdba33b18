// A picture of the bits that a round gave to each layer: one bar per layer, from the first to the
// last, as high as the mean bits of a value on the uplink. The tooltip names the layer under the
// pointer. Hidden if the round has no such numbers. GUI thread only; it copies what it shows.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "core/run/mechanisms.h"

namespace tributary::dashboard {

class LayerBitsView : public QWidget {
  Q_OBJECT

 public:
  explicit LayerBitsView(QWidget* parent = nullptr);

  void show_bits(std::vector<LayerBits> layers);
  const std::vector<LayerBits>& layers() const { return layers_; }
  // The index of the layer whose column contains x.
  std::optional<std::size_t> layer_at(double x) const;
  QString text_of_layer(std::size_t index) const;

  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::vector<LayerBits> layers_;
};

}  // namespace tributary::dashboard
