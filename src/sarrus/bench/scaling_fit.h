// A power law through measurements: y = factor x^exponent, least squares in the logarithms.
//
//   log y_i = log factor + exponent log x_i + r_i,   spread = sqrt(sum r_i^2 / (n - 2) / sum (log x_i - mean)^2)
// `spread` is the standard error of the exponent; NaN of two points, which always fit.
#pragma once

#include <vector>

namespace sarrus {

struct PowerFit {
  double exponent = 0;
  double factor = 0;
  double spread = 0;
  int points = 0;  // used; fewer than two at different x: no fit, exponent and factor are NaN
};

// Uses the points with x >= from that are positive and finite.
PowerFit fit_power(const std::vector<double>& x, const std::vector<double>& y, double from = 0);

}  // namespace sarrus
