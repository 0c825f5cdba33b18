#include "dashboard/plot/plot_export.h"

#include <QIODevice>
#include <algorithm>
#include <cmath>

#include "dashboard/plot/files/file_export.h"
#include "dashboard/plot/layers/scene.h"
#include "dashboard/plot/plot_canvas.h"

namespace tributary::dashboard {
namespace {

// A bound on memory: a picture takes 4 bytes per pixel.
constexpr int kExportSideMax = 16384;  // pixels

Status check_size(QSize size, double scale) {
  const double side = std::max(size.width(), size.height()) * scale;
  if (!size.isEmpty() && scale > 0 && side <= kExportSideMax) return {};
  return {
      StatusCode::invalid_argument,
      {.what = "size of a picture",
       .expected = "1 to " + std::to_string(kExportSideMax) + " pixels a side",
       .got =
           QString("%1x%2, scale %3").arg(size.width()).arg(size.height()).arg(scale).toStdString(),
       .remedy = "choose a smaller size"}};
}

QByteArray csv_number(double value) {
  // 15 digits are more than any displayed value has. A gap is an empty field.
  return std::isnan(value) ? QByteArray() : QByteArray::number(value, 'g', 15);
}

// Curves as points, bars and stretches with their two ends. Hidden ones and those outside the
// visible range are left out.
void write_rows(QIODevice& file, const Scene& scene) {
  const auto row = [&](const QString& name, double x_low, const QByteArray& x_high, double y) {
    file.write(csv_field(name) + ',' + csv_number(x_low) + ',' + x_high + ',' + csv_number(y) +
               "\r\n");
  };
  const auto in_sight = [&](double low, double high) {
    return high >= scene.x.low && low <= scene.x.high;
  };
  for (const PlotCurve& curve : scene.content.curves) {
    if (!curve.series || !scene.shown(curve.key)) continue;
    // The table has the curve's own values, not those of the stack that it is drawn on.
    const Series& shown = *displayed_series(curve);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const Sample sample = shown.at(i);
      if (in_sight(sample.x, sample.x)) row(curve.name, sample.x, {}, sample.y);
    }
  }
  for (const Bars& bars : scene.content.bars) {
    if (!scene.shown(bars.key)) continue;
    for (const Bar& bar : bars.bars) {
      if (in_sight(bar.x_low, bar.x_high)) {
        row(bars.name, bar.x_low, csv_number(bar.x_high), bar.y);
      }
    }
  }
  const auto stretches = [&](const QString& name, const std::vector<Stretch>& all) {
    for (const Stretch& stretch : all) {
      if (!in_sight(stretch.x_low, stretch.x_high)) continue;
      row(name + ": " + stretch.label, stretch.x_low, csv_number(stretch.x_high), std::nan(""));
    }
  };
  for (const Band& band : scene.content.bands) stretches(band.name, band.stretches);
  for (const GanttRow& each : scene.content.rows) {
    stretches(each.name, each.spans);
    for (const GanttMoment& moment : each.moments) {
      if (!in_sight(moment.x, moment.x)) continue;
      row(each.name + ": " + moment.text, moment.x, {}, std::nan(""));
    }
  }
}

}  // namespace

QImage PlotExport::picture(QSize size, double scale) { return canvas_.picture(size, scale); }

Status PlotExport::png(const QString& file, QSize size, double scale) {
  if (Status checked = check_size(size, scale); !checked.ok()) return checked;
  return write_png(picture(size, scale), file);
}

Status PlotExport::svg(const QString& file, QSize size) {
  if (Status checked = check_size(size, 1); !checked.ok()) return checked;
  return write_file(
      file, [&](QIODevice& out) { return canvas_.write_svg(out, size, scene_.options.title); });
}

Status PlotExport::csv(const QString& file) const {
  const auto named = [](const AxisText& axis, const Ticks& ticks) {
    return axis.unit == Unit::wall_time ? "Unix time (s)" : axis_label(axis.name, ticks);
    // Seconds since 1970 can be read by any program; a calendar text depends on the locale.
  };
  // A table uses the base unit, so that its numbers do not depend on the visible range.
  Ticks unit;
  unit.unit = base_unit(scene_.options.y.unit);
  return write_file(file, [&](QIODevice& out) {
    out.write("Name," + csv_field(named(scene_.options.x, {})) + ",To," +
              csv_field(named(scene_.options.y, unit)) + "\r\n");
    write_rows(out, scene_);
    return true;  // a write error makes the commit fail
  });
}

}  // namespace tributary::dashboard
