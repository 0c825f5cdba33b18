// Writes files that a user exports. A file is written completely or not at all: the previous
// content stays until the new content is on disk.
//
// Blocks until the data are on disk. Any thread may call the functions, with a device that only it
// uses.
#pragma once

#include <QByteArray>
#include <QIODevice>
#include <QImage>
#include <QString>

#include "core/base/function_ref.h"
#include "core/base/status.h"

namespace tributary::dashboard {

// `write` returns false if it could not write everything. Returns io_error if the file cannot be
// written.
Status write_file(const QString& file, FunctionRef<bool(QIODevice&)> write);
Status write_png(const QImage& image, const QString& file);

// Returns one field of a table according to RFC 4180, in UTF-8. The separator may be another
// character than a comma.
QByteArray csv_field(const QString& text, char separator = ',');

}  // namespace tributary::dashboard
