#include "dashboard/pages/common/texts.h"

#include <QLocale>

namespace tributary::dashboard {
namespace {

// Characters. Limits the work for a text of a damaged file.
constexpr qsizetype kPlainTextMax = 4000;

}  // namespace

QString plain_text(std::string_view text) {
  // A character has at most four bytes, so enough bytes remain for kPlainTextMax characters. A
  // character that is cut in half is beyond the limit.
  const auto bytes = std::min<std::size_t>(text.size(), 4 * kPlainTextMax);
  QString plain = QString::fromUtf8(text.data(), static_cast<qsizetype>(bytes));
  if (plain.size() > kPlainTextMax) plain = plain.left(kPlainTextMax) + "…";
  for (QChar& character : plain) {
    const auto category = character.category();
    if (category == QChar::Other_Control || category == QChar::Other_Format ||
        category == QChar::Separator_Line || category == QChar::Separator_Paragraph) {
      character = ' ';
    }
  }
  return plain;
}

QString words_of(std::string_view name) { return plain_text(name).replace('_', ' '); }

QString grouped(unsigned long long number) { return QLocale(QLocale::English).toString(number); }

}  // namespace tributary::dashboard
