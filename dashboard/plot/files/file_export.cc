#include "dashboard/plot/files/file_export.h"

#include <QSaveFile>

namespace tributary::dashboard {

Status write_file(const QString& file, FunctionRef<bool(QIODevice&)> write) {
  // Replaces the file only if everything was written.
  QSaveFile out(file);
  if (out.open(QIODevice::WriteOnly) && write(out) && out.commit()) return {};
  return {StatusCode::io_error,
          {.what = file.toStdString(),
           .expected = "a writable file",
           .got = out.errorString().toStdString(),
           .remedy = "choose another folder or free disk space"}};
}

Status write_png(const QImage& image, const QString& file) {
  return write_file(file, [&](QIODevice& out) { return image.save(&out, "PNG"); });
}

// RFC 4180: a field with a separator, quote or line break is quoted, and quotes in it are doubled.
QByteArray csv_field(const QString& text, char separator) {
  QByteArray bytes = text.toUtf8();
  const bool plain = !bytes.contains(separator) && !bytes.contains('"') && !bytes.contains('\n') &&
                     !bytes.contains('\r');
  return plain ? bytes : '"' + bytes.replace('"', "\"\"") + '"';
}

}  // namespace tributary::dashboard
