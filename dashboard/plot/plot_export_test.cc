// Tests of a plot as PNG, SVG and CSV.
#include "dashboard/plot/plot_export.h"

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include "dashboard/plot/plot_testing.h"

namespace tributary::dashboard {
namespace {

// 50 samples of 4,096 bytes more each, with a gap at 7.
class PlotExport : public testing::Test {
 protected:
  PlotExport() {
    view_.setPalette(palette_for_tests(false));
    view_.set_curves({{.key = "up", .name = "up, raw", .series = up_}});
    view_.resize(640, 320);
  }
  QString file(const char* name) const { return folder_.filePath(name); }
  QByteArray content(const QString& name) const {
    QFile opened(name);
    return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
  }

  QTemporaryDir folder_;
  std::shared_ptr<Series> up_ =
      series_of_function(50, [](double x) { return x == 7 ? std::nan("") : 4096 * x; });
  PlotView view_{{.title = "Traffic", .y = {"Bytes up", Unit::bytes}}};
};

// 640 by 400 at scale 2 has the pixels of 1280 by 800.
TEST_F(PlotExport, PngHasItsSizeAndItsPalette) {
  ASSERT_TRUE(view_.exporter().png(file("light.png"), {1280, 800}).ok());
  ASSERT_TRUE(view_.exporter().png(file("twice.png"), {640, 400}, 2).ok());
  view_.setPalette(palette_for_tests(true));
  ASSERT_TRUE(view_.exporter().png(file("dark.png"), {1280, 800}).ok());
  const QImage light(file("light.png"));
  const QImage dark(file("dark.png"));
  EXPECT_EQ(light.size(), QSize(1280, 800));
  EXPECT_EQ(QImage(file("twice.png")).size(), QSize(1280, 800));
  EXPECT_GT(inked_share(light, light.pixelColor(0, 799)), 0.01);
  EXPECT_GT(inked_share(dark, dark.pixelColor(0, 799)), 0.01);
  EXPECT_NE(light.pixelColor(0, 799), dark.pixelColor(0, 799));
  EXPECT_TRUE(has_colour(light, slot_colour(0, false)));
}

// The SVG contains vector elements and no embedded image.
TEST_F(PlotExport, SvgIsDrawnAndNotAPhotograph) {
  ASSERT_TRUE(view_.exporter().svg(file("a.svg"), {900, 500}).ok());
  const QByteArray svg = content(file("a.svg"));
  EXPECT_TRUE(svg.contains("<polyline"));
  EXPECT_TRUE(svg.contains("Bytes up (kB)"));
  EXPECT_FALSE(svg.contains("<image"));
}

// The CSV contains only the visible samples, in the base unit.
TEST_F(PlotExport, CsvHasVisibleSamples) {
  view_.axes().zoom_to({5, 8}, std::nullopt);
  ASSERT_TRUE(view_.exporter().csv(file("a.csv")).ok());
  EXPECT_EQ(content(file("a.csv")).toStdString(),
            "Name,Round,To,Bytes up (B)\r\n"
            "\"up, raw\",5,,20480\r\n"
            "\"up, raw\",6,,24576\r\n"
            "\"up, raw\",7,,\r\n"
            "\"up, raw\",8,,32768\r\n");
}

// Pictures of no size and of 1.6 gigapixels are refused before memory is allocated.
TEST_F(PlotExport, SaysWhyItCannot) {
  const QString nowhere = file("no such folder/a.png");
  for (const Status& status :
       {view_.exporter().png(nowhere, {100, 100}), view_.exporter().svg(nowhere, {100, 100}),
        view_.exporter().csv(nowhere)}) {
    EXPECT_EQ(status.code(), StatusCode::io_error);
    EXPECT_FALSE(status.fault().remedy.empty());
  }
  EXPECT_EQ(view_.exporter().png(file("a.png"), {0, 100}).code(), StatusCode::invalid_argument);
  EXPECT_EQ(view_.exporter().png(file("a.png"), {10000, 10000}, 4).code(),
            StatusCode::invalid_argument);
}

// A tenth of 700 pixels is too narrow for the codec's parameters but wide enough for its name.
TEST_F(PlotExport, ALabelThatDoesNotFitIsReplacedByItsShortForm) {
  const auto picture_with = [](const Stretch& narrow) {
    PlotView view({.title = "Choices"});
    view.setPalette(palette_for_tests(false));
    view.set_bands({{.name = "Codec", .stretches = {{0, 90, "thc"}, narrow}}});
    return view.exporter().picture({700, 200});
  };
  const Stretch both = {.x_low = 90,
                        .x_high = 100,
                        .label = "topk:cr=0.00562",
                        .colour_key = "topk",
                        .short_label = "topk",
                        .named = true};
  Stretch one = both;
  one.short_label.clear();
  const QImage cut = picture_with(one);
  one.label = "topk";
  EXPECT_EQ(picture_with(both), picture_with(one));
  EXPECT_NE(picture_with(both), cut);
}

// Curves with a raw line and a band, coloured bands, bars, and a Gantt chart.
TEST_F(PlotExport, EveryKindOfContentIsInThePicture) {
  PlotView view({.title = "All", .y = {"α", Unit::seconds}});
  view.setPalette(palette_for_tests(false));
  auto low = series_of_function(50, [](double x) { return 0.01 + x / 1e4; });
  auto high = series_of_function(50, [](double x) { return 0.02 + x / 1e4; });
  view.set_curves(
      {{.key = "alpha", .name = "α", .series = high, .raw = low, .low = low, .high = high}});
  view.set_bands({{.name = "codec", .stretches = {{0, 20, "int8"}, {20, 50, "thc"}}},
                  {.name = "", .stretches = {{10, 12, "outage"}}, .behind = true}});
  const QImage picture = view.exporter().picture({800, 400});
  EXPECT_TRUE(has_colour(picture, slot_colour(view.group().colours().slot_of("int8"), false)));
  EXPECT_TRUE(has_colour(picture, slot_colour(view.group().colours().slot_of("thc"), false)));

  PlotView bars({.x = {"Loss", Unit::one}, .y = {"Density", Unit::share}});
  bars.set_bars({{.key = "a", .name = "a", .bars = {{0, 1, 0.25}, {1, 2, 0.75}}}});
  EXPECT_GT(inked_share(bars.exporter().picture({400, 300}),
                        bars.exporter().picture({400, 300}).pixelColor(0, 299)),
            0.1);

  PlotView gantt({.x = {"Time", Unit::seconds}});
  gantt.setPalette(palette_for_tests(false));
  gantt.set_gantt(
      {{.name = "agent-1", .spans = {{0, 1, "compute"}, {1, 1.5, "wire"}}, .marks = {1.2}},
       {.name = "agent-2", .spans = {{0, 2.5, "compute"}}, .late = true}});
  const QImage rows = gantt.exporter().picture({800, 300});
  EXPECT_TRUE(has_colour(rows, slot_colour(gantt.group().colours().slot_of("compute"), false)));
  EXPECT_TRUE(has_colour(rows, slot_colour(gantt.group().colours().slot_of("wire"), false)));
}

// At a height of 100 pixels the rotated name would be cut off.
TEST_F(PlotExport, ALowPlotHasTheNameOfItsAxisBesideTheTitle) {
  const auto title_row = [](const QString& y_name, int height) {
    PlotView view({.title = "Low", .y = {y_name, Unit::seconds}});
    view.setPalette(palette_for_tests(false));
    view.set_curves({{.key = "a", .series = series_of_function(50, [](double x) { return x; })}});
    return view.exporter().picture({500, height}).copy(40, 0, 460, 16);
  };
  EXPECT_NE(title_row("Predicted duration", 100), title_row("", 100));
  EXPECT_EQ(title_row("Predicted duration", 400), title_row("", 400)) << "it fits its axis";
}

}  // namespace
}  // namespace tributary::dashboard
