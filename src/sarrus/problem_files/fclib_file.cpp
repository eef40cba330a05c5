#include "sarrus/problem_files/fclib_file.h"

#include <fmt/format.h>

#include <Eigen/SparseCholesky>

#include "sarrus/files/hdf5_reader.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/problem_files/fclib_data.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy = "export the file again or repair it with an HDF5 editor";

struct Velocities {
  VecX v;  // global problems
  VecX u;
};

// What the equations of the file give for the impulses.
Velocities velocities(const std::string& path, const fclib::Data& data, const fclib::Impulses& x) {
  Velocities out;
  if (!data.global) {
    out.u = data.W * x.r + data.q;
    if (data.equalities > 0) out.u += data.V * x.l;
    return out;
  }
  VecX momentum = data.H * x.r + data.f;
  if (data.equalities > 0) momentum += data.G * x.l;
  double ignored = 0;
  const Eigen::SimplicialLDLT<fclib::Sparse> factor(fclib::symmetrised(data.M, ignored));
  if (factor.info() != Eigen::Success) {
    throw InputError(path, fmt::format("/fclib_global/M: cannot be factorised; {}", kRemedy));
  }
  out.v = factor.solve(momentum);
  out.u = data.H.transpose() * out.v + data.w;
  return out;
}

void write_solution(const hdf5::File& file, const fclib::Data& data, const fclib::Impulses& x, const Velocities& y) {
  file.group("/solution");
  const auto write = [&](const char* name, const VecX& values, const char* description) {
    const auto n = static_cast<std::size_t>(values.size());
    file.table<double>(name, {n}, {values.data(), n}, {"", description});
  };
  if (data.global) write("/solution/v", y.v, "velocities");
  write("/solution/u", y.u, "contact velocities (n, t1, t2)");
  write("/solution/r", x.r, "contact impulses (n, t1, t2)");
  if (data.equalities > 0) write("/solution/l", x.l, "multipliers of the equality rows");
}

}  // namespace

FclibProblem load_fclib(const fs::path& path) {
  const hdf5::Reader file(path, kRemedy);
  const fclib::Data data = fclib::read(file);
  FclibProblem out;
  out.info.global = data.global;
  out.info.contacts = data.contacts;
  out.info.equalities = data.equalities;
  if (data.global) {
    fclib::convert_global(file.path(), data, out);
  } else {
    fclib::convert_local(file.path(), data, out);
  }
  ConstraintProblem& p = out.stored.problem;
  p.physical = false;
  p.finish();
  out.stored.kind = data.global ? "FCLIB global" : "FCLIB local";
  out.stored.warm = fclib::to_lambda(data, data.guess);
  out.stored.solution = fclib::to_lambda(data, data.solution);
  return out;
}

void save_fclib_solution(const fs::path& source, const fs::path& target, std::span<const double> lambda) {
  const hdf5::Reader reader(source, kRemedy);
  const fclib::Data data = fclib::read(reader);
  if (lambda.size() != static_cast<std::size_t>(data.rows())) {
    throw InputError(source.string(), fmt::format("the solution has {} numbers for {} rows; give one per row",
                                                  lambda.size(), data.rows()));
  }
  const fclib::Impulses x = fclib::from_lambda(data, lambda);
  const Velocities y = velocities(reader.path(), data, x);
  const hdf5::File file(target.string(), hdf5::create_image());
  reader.copy_to(file, "/solution");
  write_solution(file, data, x, y);
  const std::string bytes = hdf5::image_bytes(file.handle());
  if (bytes.empty()) file.fail("cannot be completed");
  write_file_atomically(target, bytes);
}

}  // namespace sarrus
