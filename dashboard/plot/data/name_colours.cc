#include "dashboard/plot/data/name_colours.h"

#include <QStringView>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "dashboard/plot/data/palette.h"

namespace tributary::dashboard {
namespace {

// The hues of the first eight slots (palette.cc), by name.
enum Hue : std::size_t { kBlue, kRed, kGreen, kOrange, kSky, kPurple, kYellow, kGrey };
constexpr std::size_t kHuesOfNames = 8;

// The tones of a hue. The most frequent codecs have kPlain, where hues differ most; related codecs
// have the same hue in another tone.
enum Tone : std::size_t { kPlain, kPale, kDeep, kDeepest, kUnknownName, kRamp };

struct NamedColour {
  const char* name;
  Hue hue;
  Tone tone;
};

constexpr std::array kNamedColours = {
    NamedColour{"fp32", kGrey, kPlain},
    NamedColour{"fp16", kGrey, kPale},
    NamedColour{"bf16", kGrey, kDeep},
    NamedColour{"int8", kBlue, kPlain},
    NamedColour{"int8_shared", kBlue, kPale},
    NamedColour{"qsgd", kBlue, kDeep},
    NamedColour{"topk", kRed, kPlain},
    NamedColour{"mstopk", kRed, kPale},
    NamedColour{"dgc", kRed, kDeep},
    NamedColour{"thc", kGreen, kPlain},
    NamedColour{"gcomp", kGreen, kPale},
    NamedColour{"zlib", kGreen, kDeep},
    NamedColour{"threelc", kOrange, kPlain},
    NamedColour{"stoch3", kOrange, kPale},
    NamedColour{"terngrad", kOrange, kDeep},
    NamedColour{"signsgd", kSky, kPlain},
    NamedColour{"ef_signsgd", kSky, kPale},
    NamedColour{"onebit", kSky, kDeep},
    NamedColour{"powersgd", kPurple, kPlain},
    NamedColour{"star_topk", kPurple, kPale},
    NamedColour{"var_topk", kPurple, kDeep},
    NamedColour{"randk", kYellow, kPlain},
    NamedColour{"threshold", kYellow, kPale},
    NamedColour{"zstd", kYellow, kDeep},
    NamedColour{"star", kSky, kDeepest},
    NamedColour{"sharded_star", kPurple, kDeepest},
    NamedColour{"ring", kOrange, kDeepest},
    NamedColour{"tree", kGreen, kDeepest},
    NamedColour{"halving_doubling", kBlue, kDeepest},
    NamedColour{"all_gather", kRed, kDeepest},
    NamedColour{"broadcast", kYellow, kDeepest},
    NamedColour{"in_network", kGrey, kDeepest},
};

struct PartColour {
  const char* key;
  std::size_t slot;
};

// Parts of the same plot have different colours.
constexpr std::array kPartColours = {
    PartColour{"measured", kBlue},
    PartColour{"predicted", kOrange},
    PartColour{"chosen round", kGreen},
    PartColour{"rounds", kBlue},
    PartColour{"Pareto set", kBlue},
    PartColour{"dominated", kGrey},
    PartColour{"chosen: the knee", kRed},
    PartColour{"selected", kGreen},
    PartColour{"compute", kRed},
    PartColour{"encode", kGreen},
    PartColour{"wait", kOrange},
    PartColour{"wire", kSky},
    PartColour{"decode", kPurple},
    PartColour{"no report", kGrey},
    PartColour{"up", kBlue},
    PartColour{"down", kOrange},
    PartColour{"training_loss", kBlue},
    PartColour{"gain", kOrange},
};

constexpr std::size_t kRampSteps = kHuesOfNames;
constexpr double kRampFirst = 0.12;  // share of the distance from the background to the text colour
constexpr double kRampStep = 0.08;
constexpr double kStepsPerDecade = 2;

std::size_t slot_in(Tone tone, std::size_t place) {
  return kNameSlotsBegin + std::size_t{tone} * kHuesOfNames + place;
}

// FNV-1a gives the same value in every process and build; qHash does not guarantee that.
std::uint32_t hash_of(const QString& name) {
  std::uint32_t hash = 2166136261u;
  for (const char byte : name.toUtf8()) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619u;
  }
  return hash;
}

// The colours of ratios are ordered like the ratios: a smaller ratio has more contrast to the
// background.
std::size_t ramp_step(const QString& ratio) {
  bool is_number = false;
  const double low = ratio.section(' ', 1, 1).toDouble(&is_number);
  if (!is_number || !(low > 0)) return kRampSteps - 1;
  const double step = std::round(-std::log10(low) * kStepsPerDecade);
  return static_cast<std::size_t>(std::clamp(step, 0.0, double{kRampSteps - 1}));
}

}  // namespace

QString name_without_settings(const QString& name) {
  const auto end = std::ranges::find_if(name, [](QChar character) {
    return !character.isLetterOrNumber() && character != QChar('_');
  });
  return name.left(end - name.begin());
}

std::size_t slot_of_name(const QString& name) {
  if (name.startsWith("ratio ")) return slot_in(kRamp, ramp_step(name));
  const QString bare = name_without_settings(name);
  const auto known = std::ranges::find_if(
      kNamedColours, [&](const NamedColour& colour) { return bare == QLatin1String(colour.name); });
  if (known == kNamedColours.end()) return slot_in(kUnknownName, hash_of(bare) % kHuesOfNames);
  return slot_in(known->tone, known->hue);
}

std::optional<std::size_t> slot_of_part(const QString& key) {
  const auto found = std::ranges::find_if(
      kPartColours, [&](const PartColour& colour) { return key == QLatin1String(colour.key); });
  if (found == kPartColours.end()) return std::nullopt;
  return found->slot;
}

QColor name_colour(std::size_t slot, bool dark) {
  const QColor ground = dark ? QColor(24, 26, 30) : QColor(Qt::white);
  const QColor text = dark ? Qt::white : Qt::black;
  const std::size_t place = (slot - kNameSlotsBegin) % kHuesOfNames;
  const QColor hue = slot_colour(place, dark);
  switch ((slot - kNameSlotsBegin) / kHuesOfNames) {
    case kPlain:
      return mixed(hue, ground, 0.2);
    case kPale:
      return mixed(hue, ground, 0.5);
    case kDeep:
      return mixed(hue, text, 0.25);
    case kDeepest:
      return mixed(hue, text, 0.45);
    case kRamp:
      return mixed(ground, text, kRampFirst + kRampStep * static_cast<double>(place));
    default:
      return mixed(hue, ground, 0.65);
  }
}

}  // namespace tributary::dashboard
