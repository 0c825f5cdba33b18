#include "dashboard/window/theme.h"

#include <QApplication>
#include <QStyle>
#include <QStyleFactory>

namespace tributary::dashboard {
namespace {

// Colours as 0xAARRGGBB.
struct ThemeColours {
  QRgb window, base, other_base, text, button, highlight, highlighted_text, link, placeholder;
};

constexpr ThemeColours kLightTheme = {0xfff3f4f6, 0xffffffff, 0xfff6f7f9, 0xff1c1f24, 0xffe7e9ed,
                                      0xff0067b8, 0xffffffff, 0xff00569c, 0xff60666f};
constexpr ThemeColours kDarkTheme = {0xff22252a, 0xff181a1e, 0xff1f2226, 0xffe4e6ea, 0xff30343b,
                                     0xff2f7fc2, 0xffffffff, 0xff7ab8ee, 0xff9aa1ab};

}  // namespace

std::optional<Theme> theme_named(const QString& name) {
  if (name == "system") return Theme::system;
  if (name == "dark") return Theme::dark;
  if (name == "light") return Theme::light;
  return std::nullopt;
}

QPalette palette_of(bool dark) {
  const ThemeColours& colours = dark ? kDarkTheme : kLightTheme;
  QPalette palette{QColor(colours.button), QColor(colours.window)};
  const auto set = [&](QPalette::ColorRole role, QRgb colour) {
    palette.setColor(role, QColor::fromRgb(colour));
  };
  set(QPalette::Base, colours.base);
  set(QPalette::AlternateBase, colours.other_base);
  for (const QPalette::ColorRole role :
       {QPalette::Text, QPalette::WindowText, QPalette::ButtonText, QPalette::ToolTipText}) {
    set(role, colours.text);
  }
  set(QPalette::ToolTipBase, colours.button);
  set(QPalette::Highlight, colours.highlight);
  set(QPalette::HighlightedText, colours.highlighted_text);
  set(QPalette::Link, colours.link);
  set(QPalette::PlaceholderText, colours.placeholder);
  for (const QPalette::ColorRole role :
       {QPalette::Text, QPalette::WindowText, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, QColor::fromRgb(colours.placeholder));
  }
  return palette;
}

// Only the Fusion style takes all its colours from the palette.
void apply_theme(Theme theme) {
  if (theme == Theme::system) return;
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  QApplication::setPalette(palette_of(theme == Theme::dark));
}

}  // namespace tributary::dashboard
