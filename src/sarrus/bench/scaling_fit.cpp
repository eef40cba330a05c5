#include "sarrus/bench/scaling_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sarrus {

PowerFit fit_power(const std::vector<double>& x, const std::vector<double>& y, double from) {
  std::vector<double> lx, ly;
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!(x[i] >= from && x[i] > 0 && y[i] > 0) || !std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    lx.push_back(std::log(x[i]));
    ly.push_back(std::log(y[i]));
    mean_x += lx.back();
    mean_y += ly.back();
  }
  const double n = static_cast<double>(lx.size());
  PowerFit fit;
  fit.points = static_cast<int>(lx.size());
  fit.exponent = fit.factor = fit.spread = std::numeric_limits<double>::quiet_NaN();
  if (lx.empty()) return fit;
  mean_x /= n;
  mean_y /= n;
  double sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < lx.size(); ++i) {
    sxx += (lx[i] - mean_x) * (lx[i] - mean_x);
    sxy += (lx[i] - mean_x) * (ly[i] - mean_y);
  }
  if (!(sxx > 1e-12)) return fit;
  fit.exponent = sxy / sxx;
  fit.factor = std::exp(mean_y - fit.exponent * mean_x);
  if (lx.size() < 3) return fit;
  double squares = 0;
  for (std::size_t i = 0; i < lx.size(); ++i) {
    const double r = ly[i] - mean_y - fit.exponent * (lx[i] - mean_x);
    squares += r * r;
  }
  fit.spread = std::sqrt(squares / (n - 2) / sxx);
  return fit;
}

}  // namespace sarrus
