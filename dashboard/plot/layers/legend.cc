#include "dashboard/plot/layers/legend.h"

#include <algorithm>
#include <utility>

namespace tributary::dashboard {

// The set of hidden keys is kept, because entries may return.
void Legend::list(std::vector<LegendEntry> entries) { entries_ = std::move(entries); }

void Legend::isolate(const QString& key) {
  std::set<QString> others;
  for (const LegendEntry& entry : entries_) {
    if (entry.key != key) others.insert(entry.key);
  }
  hidden_ = hidden_ == others ? std::set<QString>() : std::move(others);
  emit changed();
}

void Legend::toggle(const QString& key) {
  if (hidden_.erase(key) == 0) hidden_.insert(key);
  emit changed();
}

void Legend::show_all() {
  hidden_.clear();
  emit changed();
}

void Legend::clear_values() {
  for (LegendEntry& entry : entries_) entry.value.clear();
}

void Legend::set_value(const QString& key, const QString& value) {
  const auto entry = std::ranges::find(entries_, key, &LegendEntry::key);
  if (entry != entries_.end()) entry->value = value;
}

QString Legend::value_of(const QString& key) const {
  const LegendEntry* const entry = find(key);
  return entry ? entry->value : QString();
}

void Legend::place(const LegendLayout& layout) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].rect = i < layout.entries.size() ? layout.entries[i] : QRectF();
  }
  left_out_ = entries_.size() - std::min(entries_.size(), layout.entries.size());
  more_ = layout.more;
}

QRect Legend::rect_of(const QString& key) const {
  const LegendEntry* const entry = find(key);
  return entry ? entry->rect.toRect() : QRect();
}

const LegendEntry* Legend::entry_at(QPointF pixel) const {
  const auto found = std::ranges::find_if(
      entries_, [&](const LegendEntry& entry) { return entry.rect.contains(pixel); });
  return found == entries_.end() ? nullptr : &*found;
}

const LegendEntry* Legend::find(const QString& key) const {
  const auto found = std::ranges::find(entries_, key, &LegendEntry::key);
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace tributary::dashboard
