#include <algorithm>
#include <cmath>

#include "dashboard/plot/layers/scene_layer.h"

namespace tributary::dashboard {
namespace {

// Few points are joined by smooth lines that are slightly wider. Their cost grows with the overlap
// within a path, so they are painted in pieces. Dense or numerous points are joined by lines of one
// pixel, which Qt paints on its fast path.
constexpr std::size_t kFinePointsMax = 4000;  // of all curves together
constexpr double kFinePixelsPerPoint = 2;     // least distance of points, for each curve
constexpr int kFinePiece = 32;
constexpr double kRawGroundShare = 0.6;
constexpr double kFineWidth = 1.6;
// Greatest distance of a line's end from the plot. It keeps the slope correct and the number of
// pixels small.
constexpr double kOutsidePixels = 64;
constexpr double kPixelsMax = 30000;
constexpr double kDotRadius = 2;
constexpr float kBandAlpha = 0.18F;
constexpr float kStackAlpha = 0.5F;  // of a band that is the content itself

// One column per device pixel, so that a curve is drawn at the full resolution of the display.
std::vector<double> column_borders(const AxisMap& x, const QRectF& rect, double scale) {
  const auto columns = static_cast<std::size_t>(std::max(1.0, std::round(rect.width() * scale)));
  std::vector<double> borders(columns + 1);
  for (std::size_t i = 0; i <= columns; ++i) {
    borders[i] =
        x.value(rect.left() + rect.width() * static_cast<double>(i) / static_cast<double>(columns));
  }
  return borders;
}

// Moves `end` along the line towards `inner` until it is near the plot.
QPointF near_picture(QPointF end, QPointF inner, const QRectF& rect) {
  const double limit =
      end.x() < rect.left() ? rect.left() - kOutsidePixels : rect.right() + kOutsidePixels;
  const bool outside = end.x() < rect.left() ? end.x() < limit : end.x() > limit;
  if (!outside || inner.x() == end.x()) return end;
  const double share = (limit - end.x()) / (inner.x() - end.x());
  if (share <= 0 || share >= 1) return end;
  return {limit, end.y() + share * (inner.y() - end.y())};
}

}  // namespace

double device_scale(const QCPPainter& painter) {
  if (painter.modes().testFlag(QCPPainter::pmVectorized)) return 1;
  return painter.worldTransform().m11() * painter.device()->devicePixelRatioF();
}

void CurveLayer::draw(QCPPainter* painter) {
  const QRectF rect = data_rect();
  if (rect.width() < 2 || rect.height() < 2 || scene_.content.curves.empty()) return;
  const double scale = device_scale(*painter);
  const std::vector<double> borders = column_borders(scene_.x_map(rect), rect, scale);

  // All curves are reduced first, because the total number of points decides how they are painted.
  std::vector<std::vector<Sample>> lines(scene_.content.curves.size());
  std::size_t points = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const PlotCurve& curve = scene_.content.curves[i];
    if (!curve.series || !scene_.shown(curve.key)) continue;
    curve.series->draw(borders, lines[i]);
    points += lines[i].size();
  }
  const auto fine = [&](const std::vector<Sample>& line) {
    return points <= kFinePointsMax &&
           static_cast<double>(line.size()) * kFinePixelsPerPoint <= rect.width();
  };

  // Bands and raw values are painted before all lines, so that they hide none.
  std::vector<Sample> raw;
  for (const PlotCurve& curve : scene_.content.curves) {
    if (!scene_.shown(curve.key)) continue;
    if (curve.low && curve.high) draw_area(painter, curve, borders);
    if (!curve.raw) continue;
    curve.raw->draw(borders, raw);
    const QColor faint = mixed(scene_.colour(curve.key), scene_.colours.ground, kRawGroundShare);
    draw_line(painter, raw, faint, fine(raw));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    draw_line(painter, lines[i], scene_.colour(scene_.content.curves[i].key), fine(lines[i]));
  }
}

// Splits the line at gaps. A value that a log axis cannot show is a gap.
void CurveLayer::draw_line(QCPPainter* painter, const std::vector<Sample>& samples,
                           const QColor& colour, bool fine) {
  run_.clear();
  for (const QPointF& point : to_pixels(samples)) {
    if (std::isnan(point.x()) || std::isnan(point.y())) {
      draw_run(painter, colour, fine);
      run_.clear();
    } else {
      run_.push_back(point);
    }
  }
  draw_run(painter, colour, fine);
}

std::vector<QPointF> CurveLayer::to_pixels(const std::vector<Sample>& samples) const {
  const QRectF rect = data_rect();
  const AxisMap x = scene_.x_map(rect);
  const AxisMap y = scene_.y_map(rect);
  std::vector<QPointF> points;
  points.reserve(samples.size());
  for (const Sample& sample : samples) {
    double height = y.pixel(sample.y);
    // An infinite value leaves the plot at its edge; a gap stays NaN.
    if (height < -kPixelsMax) height = -kPixelsMax;
    if (height > kPixelsMax) height = kPixelsMax;
    points.emplace_back(x.pixel(sample.x), height);
  }
  return points;
}

void CurveLayer::draw_run(QCPPainter* painter, const QColor& colour, bool fine) {
  if (run_.empty()) return;
  const bool vectors = painter->modes().testFlag(QCPPainter::pmVectorized);
  if (run_.size() == 1) {  // a single sample between two gaps is drawn as a dot
    painter->setAntialiasing(true);
    painter->setPen(Qt::NoPen);
    painter->setBrush(colour);
    painter->drawEllipse(run_.front(), kDotRadius, kDotRadius);
    return;
  }
  // Only the ends of a run can lie outside the visible range in x.
  const QRectF rect = data_rect();
  run_.front() = near_picture(run_.front(), run_[1], rect);
  run_.back() = near_picture(run_.back(), run_[run_.size() - 2], rect);
  painter->setBrush(Qt::NoBrush);
  const auto count = static_cast<int>(run_.size());
  if (fine || vectors) {
    painter->setAntialiasing(true);
    painter->setPen(
        QPen(colour, fine ? kFineWidth : 1, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    // A vector file must have each line as one path; on the screen, short pieces are faster.
    const int piece = vectors ? count : kFinePiece;
    for (int begin = 0; begin + 1 < count; begin += piece) {
      painter->drawPolyline(run_.data() + begin, std::min(piece + 1, count - begin));
    }
    return;
  }
  painter->setAntialiasing(false);
  if (count > rect.width()) {
    draw_columns(painter, colour);
  } else {
    draw_thin(painter, colour);
  }
}

// If points are denser than pixels, a column is one rectangle from its lowest to its highest point,
// extended half way to its neighbours. This covers the same pixels as the line with a quarter of
// the strokes.
void CurveLayer::draw_columns(QCPPainter* painter, const QColor& colour) {
  const QRectF rect = data_rect();
  columns_.clear();
  double low = run_.front().y();
  double high = low;
  const auto finish = [&](double x) {
    const int top = static_cast<int>(std::max(low, rect.top() - 1));
    const int bottom = static_cast<int>(std::min(high, rect.bottom() + 1));
    if (bottom >= top) columns_.emplace_back(static_cast<int>(x), top, 1, bottom - top + 1);
  };
  for (std::size_t i = 1; i < run_.size(); ++i) {
    const QPointF& last = run_[i - 1];
    const QPointF& point = run_[i];
    double x = std::floor(last.x());
    const double end = std::floor(point.x());
    // Columns without a point: the line has its own height in each.
    for (; x < end; ++x) {
      const double share = (x + 1 - last.x()) / (point.x() - last.x());
      const double y = last.y() + share * (point.y() - last.y());
      low = std::min(low, y);
      high = std::max(high, y);
      finish(x);
      low = high = y;
    }
    low = std::min(low, point.y());
    high = std::max(high, point.y());
  }
  finish(std::floor(run_.back().x()));
  painter->setPen(Qt::NoPen);
  painter->setBrush(colour);
  painter->drawRects(columns_.data(), static_cast<int>(columns_.size()));
}

// A cosmetic line is one device pixel wide, whatever the scale of the display. Several of them side
// by side are much faster than one wider line.
void CurveLayer::draw_thin(QCPPainter* painter, const QColor& colour) {
  painter->setPen(QPen(colour, 0));
  const double scale = device_scale(*painter);
  const int copies = std::max(1, static_cast<int>(std::lround(scale)));
  for (int copy = 0; copy < copies; ++copy) {
    painter->drawPolyline(run_.data(), static_cast<int>(run_.size()));
    // The copies are shifted by one device pixel each, diagonally, which widens lines of any slope.
    for (QPointF& point : run_) point += QPointF(1 / scale, 1 / scale);
  }
}

void CurveLayer::draw_area(QCPPainter* painter, const PlotCurve& curve,
                           const std::vector<double>& borders) {
  std::vector<Sample> low;
  std::vector<Sample> high;
  curve.low->draw(borders, low);
  curve.high->draw(borders, high);
  QColor colour = scene_.colour(curve.key);
  colour.setAlphaF(curve.own ? kStackAlpha : kBandAlpha);
  painter->setPen(Qt::NoPen);
  painter->setBrush(colour);
  painter->setAntialiasing(false);

  // Both bounds have their gaps at the same x, so a piece of the band ends where either bound has a
  // gap.
  const auto gap = [](const QPointF& p) { return std::isnan(p.y()) || std::isnan(p.x()); };
  const std::vector<QPointF> lower = to_pixels(low);
  const std::vector<QPointF> upper = to_pixels(high);
  auto l = lower.begin();
  auto u = upper.begin();
  while (l != lower.end() && u != upper.end()) {
    const auto l_end = std::find_if(l, lower.end(), gap);
    const auto u_end = std::find_if(u, upper.end(), gap);
    QPolygonF area(QList<QPointF>(l, l_end));
    for (auto point = u_end; point != u; --point) area.append(*(point - 1));
    if (area.size() > 2) painter->drawPolygon(area);
    l = l_end == lower.end() ? l_end : l_end + 1;
    u = u_end == upper.end() ? u_end : u_end + 1;
  }
}

}  // namespace tributary::dashboard
