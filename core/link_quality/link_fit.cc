#include "core/link_quality/link_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tributary {
namespace {

// Share of the readings that may lie below the line: one in twelve.
constexpr double kShareBelow = 0.08;
constexpr int kIterations = 24;
constexpr double kErrorMin = 0.01;  // smaller relative errors count by their square
// Bound on the ratio between the fitted and the measured time that scales an error.
constexpr double kScaleMax = 32;

// Prior before any reading: an error of 30 %, with the weight of two readings.
constexpr double kPriorError = 0.3;
constexpr double kPriorReadings = 2;
constexpr double kHalfConfidentError = 0.1;
// Lower bounds for the confidence: smaller values need not be known to a tenth.
constexpr double kAlphaMin_s = 20e-6;
constexpr double kBetaMin_s_per_byte = 1e-11;
// Two columns closer than this do not separate latency and rate.
constexpr double kDeterminantMin = 1e-9;

// Sums over the readings of the products of their two columns and the time. They are scaled by the
// errors' scale, and both unknowns are in units in which they are about 1.
struct Sums {
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double at = 0;
  double bt = 0;

  double determinant() const { return aa * bb - ab * ab; }
};

// Iteratively reweighted least squares for a low quantile, with two unknowns that must not be
// negative.
class Fitter {
 public:
  explicit Fitter(std::span<const LinkReading> readings) : readings_(readings) { start(); }

  LinkFit run() {
    for (int i = 0; i < kIterations; ++i) solve(sums(true));
    judge();
    return fit_;
  }

 private:
  // Starts with half of the shortest time as latency and half as bytes.
  void start() {
    alpha_unit_ = std::numeric_limits<double>::infinity();
    beta_unit_ = alpha_unit_;
    for (const LinkReading& reading : readings_) {
      if (reading.latencies > 0) {
        fit_.alpha_known = true;
        alpha_unit_ = std::min(alpha_unit_, reading.seconds / reading.latencies);
      }
      if (reading.bytes > 0) {
        fit_.beta_known = true;
        beta_unit_ = std::min(beta_unit_, reading.seconds / reading.bytes);
      }
    }
    if (!fit_.alpha_known) alpha_unit_ = 0;
    if (!fit_.beta_known) beta_unit_ = 0;
    fit_.alpha_s = alpha_unit_ / 2;
    fit_.beta_s_per_byte = beta_unit_ / 2;
  }

  // The fitted time, bounded relative to the measured one, so that neither very short nor very long
  // transfers dominate.
  double scale_of(const LinkReading& reading) const {
    return std::clamp(fit_.seconds(reading.latencies, reading.bytes), reading.seconds / kScaleMax,
                      reading.seconds * kScaleMax);
  }
  double error_of(const LinkReading& reading) const {
    return (reading.seconds - fit_.seconds(reading.latencies, reading.bytes)) / scale_of(reading);
  }

  // Weights for the next step of iteratively reweighted least squares: each squared error gets the
  // weight that makes it equal to the quantile loss at the current fit.
  Sums sums(bool towards_quantile) const {
    Sums sums;
    for (const LinkReading& reading : readings_) {
      const double scale = scale_of(reading);
      double weight = reading.weight;
      if (towards_quantile) {
        const double error = error_of(reading);
        weight *=
            (error > 0 ? kShareBelow : 1 - kShareBelow) / std::max(std::abs(error), kErrorMin);
      }
      const double a = reading.latencies * alpha_unit_ / scale;
      const double b = reading.bytes * beta_unit_ / scale;
      const double t = reading.seconds / scale;
      sums.aa += weight * a * a;
      sums.ab += weight * a * b;
      sums.bb += weight * b * b;
      sums.at += weight * a * t;
      sums.bt += weight * b * t;
    }
    return sums;
  }

  // Solves the normal equations. If an unknown becomes negative, it is set to 0 and the other one
  // is solved alone.
  void solve(const Sums& s) {
    double a = 0;
    double b = 0;
    if (!fit_.alpha_known || !fit_.beta_known) {
      if (s.aa > 0) a = s.at / s.aa;
      if (s.bb > 0) b = s.bt / s.bb;
    } else {
      // If sizes do not separate the unknowns, the ridge gives each of them half.
      const double ridge = kDeterminantMin * (s.aa + s.bb);
      const Sums r = {.aa = s.aa + ridge, .ab = s.ab, .bb = s.bb + ridge};
      a = (s.at * r.bb - s.bt * r.ab) / r.determinant();
      b = (s.bt * r.aa - s.at * r.ab) / r.determinant();
      if (a < 0) {
        a = 0;
        b = s.bt / r.bb;
      } else if (b < 0) {
        b = 0;
        a = s.at / r.aa;
      }
    }
    fit_.alpha_s = a * alpha_unit_;
    fit_.beta_s_per_byte = b * beta_unit_;
  }

  // Root mean square deviation of the readings, weighted by the share of the unknown in each.
  double spread(bool of_alpha) const {
    double squares = kPriorReadings * kPriorError * kPriorError;
    double count = kPriorReadings;
    for (const LinkReading& reading : readings_) {
      const double part =
          of_alpha ? reading.latencies * fit_.alpha_s : reading.bytes * fit_.beta_s_per_byte;
      const double share = reading.weight * std::min(part / scale_of(reading), 1.0);
      const double error = std::clamp(error_of(reading), -1.0, 1.0);
      squares += share * error * error;
      count += share;
    }
    return std::sqrt(squares / count);
  }

  // 1 for an exact value, 0.5 for a relative standard error of 0.1.
  static double confidence(double standard_error, double value) {
    const double relative = standard_error / value / kHalfConfidentError;
    return 1 / (1 + relative * relative);
  }

  // Confidences from the covariance at the final fit. They stay 0 if the columns are proportional.
  void judge() {
    const Sums s = sums(false);
    double alpha_variance = 1 / s.aa;
    double beta_variance = 1 / s.bb;
    if (fit_.alpha_known && fit_.beta_known) {
      if (s.determinant() <= kDeterminantMin * s.aa * s.bb) return;
      alpha_variance = s.bb / s.determinant();
      beta_variance = s.aa / s.determinant();
    }
    if (fit_.alpha_known) {
      fit_.alpha_confidence = confidence(spread(true) * std::sqrt(alpha_variance) * alpha_unit_,
                                         std::max(fit_.alpha_s, kAlphaMin_s));
    }
    if (fit_.beta_known) {
      fit_.beta_confidence = confidence(spread(false) * std::sqrt(beta_variance) * beta_unit_,
                                        std::max(fit_.beta_s_per_byte, kBetaMin_s_per_byte));
    }
  }

  std::span<const LinkReading> readings_;
  double alpha_unit_ = 0;
  double beta_unit_ = 0;
  LinkFit fit_;
};

}  // namespace

double relative_error(double confidence) {
  return kHalfConfidentError * std::sqrt(1 / confidence - 1);
}

LinkFit fit_link(std::span<const LinkReading> readings) { return Fitter(readings).run(); }

}  // namespace tributary
