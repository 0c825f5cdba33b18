// Dark and light, from one palette for everything.
#pragma once

#include <QPalette>
#include <QString>
#include <cstdint>
#include <optional>

namespace tributary::dashboard {

enum class Theme : std::uint8_t { system, dark, light };

std::optional<Theme> theme_named(const QString& name);  // as --palette takes it
QPalette palette_of(bool dark);
// For the whole application. `system` is what the desktop has.
void apply_theme(Theme theme);

}  // namespace tributary::dashboard
