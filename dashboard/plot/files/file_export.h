// Files that a user asks for. A file is written whole or not at all: what was there before stays
// until all of the new content is on the disk.
#pragma once

#include <QByteArray>
#include <QIODevice>
#include <QImage>
#include <QString>

#include "core/base/function_ref.h"
#include "core/base/status.h"

namespace tributary::dashboard {

// `write` returns false if it could not write all. Errors: io_error.
Status write_file(const QString& file, FunctionRef<bool(QIODevice&)> write);
Status write_png(const QImage& image, const QString& file);

// A field of a table as text: by RFC 4180, in UTF-8, or with another separator than a comma.
QByteArray csv_field(const QString& text, char separator = ',');

}  // namespace tributary::dashboard
