// When a job's rounds came to be done otherwise than before: by another codec, another collective,
// at another ratio; and on what account.
#pragma once

#include <map>
#include <string>

#include "dashboard/run/round_table.h"
#include "dashboard/tables/rows_model.h"

namespace tributary::dashboard {

struct ChoiceRow {
  std::uint64_t round = 0;
  double began_s = 0;
  std::string codec = {};
  std::string collective = {};
  double ratio = 1;
  std::string trigger = {};
  double predicted_s = 0;
  std::string sentence = {};  // once somebody has read it
};

class ChoicesModel : public RowsModel<ChoiceRow> {
 public:
  static constexpr std::size_t kChoicesMax = 10'000;  // the newest

  // Dates are from this base on (RunView::base_wall_ns).
  explicit ChoicesModel(QObject* parent = nullptr);

  void update(const RoundTable& rounds, std::int64_t base_wall_ns);
  // The table of rounds does not have it; a RoundDetail does.
  void tell_sentence(std::uint64_t round, const std::string& sentence);
  void clear();

  std::uint64_t round(int row) const { return row_at(row).round; }
  int row_of(std::uint64_t round) const;  // in which it was chosen how it was done; -1: not known

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;

 protected:
  bool same_thing(const ChoiceRow& a, const ChoiceRow& b) const override;
  bool looks_same(const ChoiceRow& a, const ChoiceRow& b) const override;

 private:
  std::int64_t base_wall_ns_ = 0;
  std::map<std::uint64_t, std::string> sentences_;
};

}  // namespace tributary::dashboard
