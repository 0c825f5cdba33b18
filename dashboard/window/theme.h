// The dark and the light theme. Each is one palette for all widgets. apply_theme() changes global
// state of the application. GUI thread only.
#pragma once

#include <QPalette>
#include <QString>
#include <cstdint>
#include <optional>

namespace tributary::dashboard {

enum class Theme : std::uint8_t { system, dark, light };

std::optional<Theme> theme_named(const QString& name);  // the names that --palette accepts
// Returns the palette of the dark or the light theme.
QPalette palette_of(bool dark);
// Applies the theme to the whole application. `system` keeps the theme of the desktop.
void apply_theme(Theme theme);

}  // namespace tributary::dashboard
