// FCLIB files: every storage form, both kinds of problem, solutions written back, foreign and damaged files.
#include "sarrus/problem_files/fclib_file.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>
#include <random>

#ifdef SARRUS_HAVE_FCLIB
extern "C" {
#include <fclib.h>
}
#endif

#include "io/hdf5_test_file.h"
#include "sarrus/math/error.h"
#include "sarrus/problem/judge.h"
#include "sarrus/solvers/registry.h"

namespace sarrus::fclib_file_test {
namespace {

using namespace testing_io;
using Ints = std::vector<int>;
using Doubles = std::vector<double>;

enum class Form { columns, rows, triplets };

struct Compressed {
  Ints p{0}, i;
  Doubles x;
};

// Compressed columns; of the transpose: compressed rows. Zeros are stored too if `full`.
Compressed compress(const MatX& A, bool full) {
  Compressed out;
  for (int c = 0; c < A.cols(); ++c) {
    for (int r = 0; r < A.rows(); ++r) {
      if (A(r, c) == 0 && !full) continue;
      out.i.push_back(r);
      out.x.push_back(A(r, c));
    }
    out.p.push_back(static_cast<int>(out.i.size()));
  }
  return out;
}

void put_matrix(RawFile& file, const std::string& name, const MatX& A, Form form, bool full = false) {
  Compressed s = compress(form == Form::rows ? MatX(A.transpose()) : A, full);
  int nz = form == Form::columns ? -1 : -2;
  if (form == Form::triplets) {
    // Backwards, and the last entry in two parts.
    Compressed t{{}, {}, {}};
    for (int c = static_cast<int>(A.cols()) - 1; c >= 0; --c) {
      for (int k = s.p[static_cast<std::size_t>(c)]; k < s.p[static_cast<std::size_t>(c) + 1]; ++k) {
        t.p.push_back(c);
        t.i.push_back(s.i[static_cast<std::size_t>(k)]);
        t.x.push_back(s.x[static_cast<std::size_t>(k)]);
      }
    }
    t.p.push_back(t.p.back());
    t.i.push_back(t.i.back());
    t.x.back() *= 0.5;
    t.x.push_back(t.x.back());
    s = t;
    nz = static_cast<int>(s.x.size());
  }
  file.put(name + "/m", Ints{static_cast<int>(A.rows())});
  file.put(name + "/n", Ints{static_cast<int>(A.cols())});
  file.put(name + "/nz", Ints{nz});
  file.put(name + "/nzmax", Ints{static_cast<int>(s.x.size())});
  file.put(name + "/p", s.p);
  file.put(name + "/i", s.i);
  file.put(name + "/x", s.x);
}

Doubles list(const VecX& v) { return {v.data(), v.data() + v.size()}; }
VecX vec(const Doubles& v) { return Eigen::Map<const VecX>(v.data(), static_cast<Eigen::Index>(v.size())); }

// Three bodies of 6 coordinates: contacts 0 and 1 between the first two, 2 and 3 on the third alone; one more body that
// nothing touches. Two equality rows on the first body.
struct Example {
  MatX M, H, G;
  VecX f, w, b;
  Doubles mu{0.3, 0.0, 0.7, 1.2};

  explicit Example(bool equalities) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    const auto fill = [&](auto&& block) {
      for (Eigen::Index i = 0; i < block.size(); ++i) block.reshaped()[i] = normal(random);
    };
    M = MatX::Zero(24, 24);
    for (int k = 0; k < 4; ++k) {
      MatX A(6, 6);
      fill(A);
      M.block(6 * k, 6 * k, 6, 6) = A * A.transpose() + MatX::Identity(6, 6);
    }
    M = (0.5 * (M + M.transpose())).eval();
    H = MatX::Zero(24, 12);
    fill(H.block(0, 0, 12, 6));
    fill(H.block(12, 6, 6, 6));
    G = MatX::Zero(24, equalities ? 2 : 0);
    if (equalities) fill(G.block(0, 0, 6, 2));
    f = VecX(24);
    w = VecX(12);
    b = VecX(G.cols());
    fill(f);
    fill(w);
    fill(b);
  }

  MatX solve(const MatX& A) const { return M.llt().solve(A); }

  void write_global(const fs::path& path, Form form) const {
    RawFile file(path, RawFile::create);
    file.put("/fclib_global/spacedim", Ints{3});
    put_matrix(file, "/fclib_global/M", M, form);
    put_matrix(file, "/fclib_global/H", H, form);
    if (G.cols() > 0) {
      put_matrix(file, "/fclib_global/G", G, form);
      file.put("/fclib_global/vectors/b", list(b));
    }
    file.put("/fclib_global/vectors/f", list(f));
    file.put("/fclib_global/vectors/w", list(w));
    file.put("/fclib_global/vectors/mu", mu);
  }

  MatX W() const { return H.transpose() * solve(H); }
  VecX q() const { return H.transpose() * solve(f) + w; }

  void write_local(const fs::path& path, Form form) const {
    RawFile file(path, RawFile::create);
    file.put("/fclib_local/spacedim", Ints{3});
    put_matrix(file, "/fclib_local/W", W(), form, form == Form::columns);
    if (G.cols() > 0) {
      put_matrix(file, "/fclib_local/V", H.transpose() * solve(G), form);
      put_matrix(file, "/fclib_local/R", G.transpose() * solve(G), form);
      file.put("/fclib_local/vectors/s", list(G.transpose() * solve(f) + b));
    }
    file.put("/fclib_local/vectors/q", list(q()));
    file.put("/fclib_local/vectors/mu", mu);
  }

  // D and v_f of the constraint problem, straight from the definition: equalities, then contacts as [t1, t2, n].
  MatX J() const {
    MatX out(G.cols() + 12, 24);
    out.topRows(G.cols()) = G.transpose();
    for (int c = 0; c < 4; ++c) {
      for (int j = 0; j < 3; ++j) out.row(G.cols() + 3 * c + j) = H.col(3 * c + (j + 1) % 3).transpose();
    }
    return out;
  }
  MatX D() const { return J() * solve(J().transpose()); }
  VecX v_free() const {
    VecX bias(G.cols() + 12);
    bias.head(G.cols()) = b;
    for (int c = 0; c < 4; ++c) {
      for (int j = 0; j < 3; ++j) bias[G.cols() + 3 * c + j] = w[3 * c + (j + 1) % 3];
    }
    return J() * solve(f) + bias;
  }
};

double difference(const MatX& A, const MatX& B) {
  if (A.rows() != B.rows() || A.cols() != B.cols()) return std::numeric_limits<double>::infinity();
  return (A - B).cwiseAbs().maxCoeff() / std::max(1e-300, B.cwiseAbs().maxCoeff());
}

void expect_problem(const FclibProblem& p, const Example& e) {
  EXPECT_LT(difference(p.stored.problem.dense_D_plus_R(), e.D()), 1e-12);
  EXPECT_LT(difference(p.stored.problem.v_free, e.v_free()), 1e-12);
  EXPECT_FALSE(p.stored.problem.physical);
  EXPECT_EQ(p.info.contacts, 4);
  EXPECT_EQ(p.info.equalities, e.G.cols());
  int c = 0;
  for (const ConstraintBlock& b : p.stored.problem.blocks) {
    if (b.kind != BlockKind::contact) continue;
    EXPECT_EQ(b.mu, e.mu[static_cast<std::size_t>(c++)]);
  }
}

TEST(FclibFile, ReadsEveryStorageFormOfLocalProblems) {
  const TemporaryFolder folder;
  for (const bool equalities : {false, true}) {
    const Example e(equalities);
    for (const Form form : {Form::columns, Form::rows, Form::triplets}) {
      SCOPED_TRACE(static_cast<int>(form));
      e.write_local(folder / "p.h5", form);
      const FclibProblem p = load_fclib(folder / "p.h5");
      expect_problem(p, e);
      EXPECT_EQ(p.stored.kind, "FCLIB local");
      EXPECT_EQ(p.stored.problem.node_count(), 2);
      EXPECT_FALSE(p.info.indefinite);
      EXPECT_LT(p.info.asymmetry, 1e-14);
      EXPECT_EQ(problem_format(folder / "p.h5"), ProblemFormat::fclib);
    }
  }
}

TEST(FclibFile, ReadsEveryStorageFormOfGlobalProblems) {
  const TemporaryFolder folder;
  for (const bool equalities : {false, true}) {
    const Example e(equalities);
    for (const Form form : {Form::columns, Form::rows, Form::triplets}) {
      SCOPED_TRACE(static_cast<int>(form));
      e.write_global(folder / "p.h5", form);
      const FclibProblem p = load_fclib(folder / "p.h5");
      expect_problem(p, e);
      EXPECT_EQ(p.stored.kind, "FCLIB global");
      EXPECT_EQ(p.stored.problem.node_size, (Ints{6, 6, 6}));
    }
  }
}

TEST(FclibFile, JoinsNodesOfContactsThatTouchMany) {
  const TemporaryFolder folder;
  Example e(false);
  // 7 coordinates without coupling, all touched by contact 0; 17 more that contact 1 and 2 touch in part.
  e.M = MatX::Identity(23, 23) * 2;
  MatX H = MatX::Zero(23, 12);
  H.block(0, 0, 7, 3) = e.H.block(0, 0, 7, 3);
  H.block(10, 3, 3, 3) = e.H.block(3, 3, 3, 3);
  H(20, 6) = 1;
  e.H = H;  // contact 3 touches nothing
  e.G.resize(23, 0);
  e.f = e.f.head(23).eval();
  e.write_global(folder / "p.h5", Form::columns);
  const FclibProblem p = load_fclib(folder / "p.h5");
  MatX J(12, 23);
  for (int i = 0; i < 12; ++i) J.row(i) = H.col(3 * (i / 3) + (i + 1) % 3).transpose();
  EXPECT_LT(difference(p.stored.problem.dense_D_plus_R(), 0.5 * J * J.transpose()), 1e-14);
  EXPECT_EQ(p.stored.problem.node_size, (Ints{7, 1, 1, 1, 1}));
}

TEST(FclibFile, TellsAsymmetryAndIndefiniteMatrices) {
  const TemporaryFolder folder;
  Example e(false);
  e.write_local(folder / "p.h5", Form::columns);
  MatX W = MatX::Identity(12, 12);
  W(0, 1) = 0.02;  // 0.01 in the symmetric part
  W(5, 5) = -1e-6;
  W(8, 8) = -1e-12;
  {
    RawFile file(folder / "p.h5", RawFile::change);
    file.remove("/fclib_local/W");
    put_matrix(file, "/fclib_local/W", W, Form::columns);
  }
  const FclibProblem p = load_fclib(folder / "p.h5");
  EXPECT_NEAR(p.info.asymmetry, 0.02, 1e-15);
  EXPECT_TRUE(p.info.indefinite);
  EXPECT_NEAR(p.info.eigenvalue_min, -1e-6, 1e-15);
  EXPECT_NEAR(p.info.eigenvalue_max, 1.01, 1e-12);
  EXPECT_EQ(p.info.rank, 10);
  const MatX D = p.stored.problem.dense_D_plus_R();
  EXPECT_NEAR(D(2, 0), 0.01, 1e-15);  // n and t1 of contact 0
  EXPECT_EQ(D(4, 4), 0);              // t2 of contact 1: row 5 of the file, left out
}

TEST(FclibFile, TakesContactsWithoutCoupling) {
  const TemporaryFolder folder;
  Example e(false);
  e.write_local(folder / "p.h5", Form::columns);
  {
    RawFile file(folder / "p.h5", RawFile::change);
    file.remove("/fclib_local/W");
    put_matrix(file, "/fclib_local/W", MatX::Zero(12, 12), Form::columns);
  }
  const FclibProblem p = load_fclib(folder / "p.h5");
  EXPECT_EQ(p.stored.problem.dense_D_plus_R(), MatX::Zero(12, 12));
  EXPECT_EQ(p.info.rank, 0);
}

std::vector<double> solve(const ConstraintProblem& p) {
  std::vector<double> lambda(static_cast<std::size_t>(p.rows()), 0.0);
  make_solver("admm-ncp-sa", {{"max_iterations", 5000}})->solve(p, 1e-10, lambda);
  JudgeWorkspace workspace;
  EXPECT_LT(judge(p, lambda, workspace).error(), 1e-9);
  return lambda;
}

TEST(FclibFile, WritesSolutionsInTheOrderOfTheFile) {
  const TemporaryFolder folder;
  const Example e(true);
  e.write_local(folder / "local.h5", Form::rows);
  e.write_global(folder / "global.h5", Form::triplets);
  const std::string before = read_text(folder / "local.h5");

  const FclibProblem local = load_fclib(folder / "local.h5");
  const std::vector<double> lambda = solve(local.stored.problem);
  save_fclib_solution(folder / "local.h5", folder / "out.h5", lambda);
  EXPECT_EQ(read_text(folder / "local.h5"), before);
  const VecX r = vec(get_doubles(folder / "out.h5", "/solution/r"));
  const VecX u = vec(get_doubles(folder / "out.h5", "/solution/u"));
  const VecX l = vec(get_doubles(folder / "out.h5", "/solution/l"));
  EXPECT_LT(difference(u, e.W() * r + e.H.transpose() * e.solve(e.G) * l + e.q()), 1e-12);
  // Coulomb's law with the normal first.
  for (int c = 0; c < 4; ++c) {
    EXPECT_GE(r[3 * c], 0);
    EXPECT_GE(u[3 * c], -1e-8);
    EXPECT_LE(r.segment<2>(3 * c + 1).norm(), e.mu[static_cast<std::size_t>(c)] * r[3 * c] + 1e-8);
    EXPECT_NEAR(r[3 * c] * u[3 * c], 0, 1e-7);
  }
  const FclibProblem again = load_fclib(folder / "out.h5");
  EXPECT_EQ(again.stored.solution, lambda);

  // The global problem has the same solution; here in place, and over an older one.
  for (int i = 0; i < 2; ++i) save_fclib_solution(folder / "global.h5", folder / "global.h5", lambda);
  const VecX v = vec(get_doubles(folder / "global.h5", "/solution/v"));
  const VecX ug = vec(get_doubles(folder / "global.h5", "/solution/u"));
  EXPECT_LT(difference(e.M * v, e.H * r + e.G * l + e.f), 1e-12);
  EXPECT_LT(difference(ug, e.H.transpose() * v + e.w), 1e-12);
  EXPECT_LT((e.G.transpose() * v + e.b).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT(difference(ug, u), 1e-10);
  EXPECT_EQ(load_fclib(folder / "global.h5").stored.solution, lambda);
}

TEST(FclibFile, LeavesTheFileAloneWhenTheSolutionCannotBeWritten) {
  const TemporaryFolder folder;
  Example(false).write_local(folder / "p.h5", Form::columns);
  const std::string before = read_text(folder / "p.h5");
  EXPECT_THROW(save_fclib_solution(folder / "p.h5", folder / "p.h5", Doubles(5, 0.0)), InputError);
  EXPECT_THROW(save_fclib_solution(folder / "p.h5", folder / "no/such/p.h5", Doubles(12, 0.0)), InputError);
  EXPECT_THROW(save_fclib_solution(folder / "none.h5", folder / "p.h5", Doubles(12, 0.0)), InputError);
  EXPECT_EQ(read_text(folder / "p.h5"), before);
}

TEST(FclibFile, TakesTheFirstGuessAsWarmStart) {
  const TemporaryFolder folder;
  Example(true).write_global(folder / "p.h5", Form::columns);
  Doubles r(12);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = static_cast<double>(i);
  {
    RawFile file(folder / "p.h5", RawFile::change);
    file.put("/guesses/1/r", r);
    file.put("/guesses/1/l", Doubles{-1, -2});
  }
  EXPECT_EQ(load_fclib(folder / "p.h5").stored.warm, (Doubles{-1, -2, 1, 2, 0, 4, 5, 3, 7, 8, 6, 10, 11, 9}));
}

std::function<void(const fs::path&)> put_ints(const char* name, Ints values) {
  return [=](const fs::path& file) { RawFile(file, RawFile::change).put(name, values); };
}
std::function<void(const fs::path&)> put_doubles(const char* name, Doubles values) {
  return [=](const fs::path& file) { RawFile(file, RawFile::change).put(name, values); };
}
std::function<void(const fs::path&)> drop(const char* name) {
  return [=](const fs::path& file) { RawFile(file, RawFile::change).remove(name); };
}

TEST(FclibFile, RefusesBadLocalProblemsByName) {
  const TemporaryFolder folder;
  Example(false).write_local(folder / "p.h5", Form::triplets);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Damage> table = {
      {"2D", put_ints("/fclib_local/spacedim", {2}), {"2D friction problem"}},
      {"rolling", put_ints("/fclib_global_rolling/spacedim", {5}), {"rolling friction"}},
      {"4D", put_ints("/fclib_local/spacedim", {4}), {"/fclib_local/spacedim", "4"}},
      {"both kinds", put_ints("/fclib_global/spacedim", {3}), {"local and a global"}},
      {"no kind", drop("/fclib_local"), {"no FCLIB problem"}},
      {"no W", drop("/fclib_local/W"), {"/fclib_local/W", "missing"}},
      {"no q", drop("/fclib_local/vectors/q"), {"vectors/q", "missing"}},
      {"no vectors", drop("/fclib_local/vectors"), {"vectors", "missing"}},
      {"short q", put_doubles("/fclib_local/vectors/q", Doubles(9, 0.0)), {"mu", "4", "3"}},
      {"odd q", put_doubles("/fclib_local/vectors/q", Doubles(11, 0.0)), {"multiple of 3"}},
      {"empty q", put_doubles("/fclib_local/vectors/q", {}), {"no contacts"}},
      {"NaN q", put_doubles("/fclib_local/vectors/q", Doubles(12, nan)), {"vectors/q", "nan"}},
      {"negative mu", put_doubles("/fclib_local/vectors/mu", {0.1, -0.1, 1, 1}), {"vectors/mu", "-0.1"}},
      {"integer mu", put_ints("/fclib_local/vectors/mu", {1, 1, 1, 1}), {"vectors/mu", "integers"}},
      {"wrong size", put_ints("/fclib_local/W/m", {13}), {"/fclib_local/W", "13 x 12"}},
      {"huge", put_ints("/fclib_local/W/n", {2000000000}), {"/fclib_local/W"}},
      {"negative size", put_ints("/fclib_local/W/m", {-12}), {"/fclib_local/W"}},
      {"unknown storage", put_ints("/fclib_local/W/nz", {-3}), {"/fclib_local/W/nz"}},
      {"too many triplets", put_ints("/fclib_local/W/nz", {100000}), {"/fclib_local/W", "nz"}},
      {"columns that are none", put_ints("/fclib_local/W/nz", {-1}), {"/fclib_local/W/p"}},
      {"row index", put_ints("/fclib_local/W/i", Ints(200, 12)), {"/fclib_local/W/i", "12"}},
      {"column index", put_ints("/fclib_local/W/p", Ints(200, -1)), {"/fclib_local/W/p", "-1"}},
      {"NaN in W", put_doubles("/fclib_local/W/x", Doubles(200, nan)), {"/fclib_local/W/x"}},
      {"two sizes", put_ints("/fclib_local/W/m", {12, 12}), {"/fclib_local/W/m"}},
      {"V without s", put_ints("/fclib_local/V/m", {12}), {"vectors/s"}},
      {"short solution", put_doubles("/solution/r", {1, 2}), {"/solution/r"}},
      {"NaN guess", put_doubles("/guesses/1/r", Doubles(12, nan)), {"/guesses/1/r"}},
      {"truncated", [](const fs::path& f) { fs::resize_file(f, fs::file_size(f) / 2); }, {"truncated"}}};
  expect_damage_found<InputError>(folder, folder / "p.h5", table, [](const fs::path& f) { load_fclib(f); });
}

TEST(FclibFile, RefusesBadGlobalProblemsByName) {
  const TemporaryFolder folder;
  Example(true).write_global(folder / "p.h5", Form::columns);
  const auto set_mass = [](double value) {
    return [=](const fs::path& file) {
      Doubles x = get_doubles(file, "/fclib_global/M/x");
      x[0] = value;
      RawFile(file, RawFile::change).put("/fclib_global/M/x", x);
    };
  };
  const std::vector<Damage> table = {
      {"2D", put_ints("/fclib_global/spacedim", {2}), {"2D friction problem"}},
      {"no M", drop("/fclib_global/M"), {"/fclib_global/M", "missing"}},
      {"no H", drop("/fclib_global/H"), {"/fclib_global/H", "missing"}},
      {"no f", drop("/fclib_global/vectors/f"), {"vectors/f", "missing"}},
      {"empty f", put_doubles("/fclib_global/vectors/f", {}), {"vectors/f", "empty"}},
      {"short f", put_doubles("/fclib_global/vectors/f", Doubles(18, 0.0)), {"/fclib_global/M", "24 x 24"}},
      {"G without b", drop("/fclib_global/vectors/b"), {"vectors/b", "missing"}},
      {"short b", put_doubles("/fclib_global/vectors/b", {1}), {"/fclib_global/G", "24 x 2"}},
      {"falling pointers",
       put_ints("/fclib_global/H/p", {0, 9, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}),
       {"/fclib_global/H/p"}},
      {"pointer beyond the end",
       put_ints("/fclib_global/H/p", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100000}),
       {"/fclib_global/H/p"}},
      {"negative mass", set_mass(-1), {"/fclib_global/M", "positive definite"}},
      {"zero mass", set_mass(0), {"/fclib_global/M", "positive definite"}}};
  expect_damage_found<InputError>(folder, folder / "p.h5", table, [](const fs::path& f) { load_fclib(f); });
}

TEST(FclibFile, NoiseDoesNotCrash) {
  const TemporaryFolder folder;
  Example(true).write_local(folder / "p.h5", Form::columns);
  expect_survives_noise<InputError>(folder, folder / "p.h5", [](const fs::path& f) {
    problem_format(f);
    load_fclib(f);
  });
}

#ifdef SARRUS_HAVE_FCLIB

// FCLIB's own library is the other party: it writes what we read and reads what we write.
TEST(FclibFile, AgreesWithTheLibraryOfTheFormat) {
  const TemporaryFolder folder;
  const Example e(false);
  const MatX W = e.W();
  Compressed s = compress(W, true);
  VecX q = e.q();
  Doubles mu = e.mu;
  fclib_matrix matrix{};
  matrix.m = matrix.n = 12;
  matrix.nzmax = static_cast<int>(s.x.size());
  matrix.nz = -1;
  matrix.p = s.p.data();
  matrix.i = s.i.data();
  matrix.x = s.x.data();
  fclib_local problem{};
  problem.W = &matrix;
  problem.q = q.data();
  problem.mu = mu.data();
  problem.spacedim = 3;
  const std::string file = (folder / "p.h5").string();
  ASSERT_EQ(fclib_write_local(&problem, file.c_str()), 1);
  const FclibProblem loaded = load_fclib(file);
  expect_problem(loaded, e);

  save_fclib_solution(file, file, solve(loaded.stored.problem));
  fclib_local* same = fclib_read_local(file.c_str());
  ASSERT_NE(same, nullptr);
  fclib_solution* solution = fclib_read_solution(file.c_str());
  ASSERT_NE(solution, nullptr);
  const Eigen::Map<const VecX> r(solution->r, 12);
  const Eigen::Map<const VecX> u(solution->u, 12);
  EXPECT_LT(difference(u, W * r + q), 1e-12);
  EXPECT_LT(fclib_merit_local(same, MERIT_1, solution), 1e-6);
  fclib_delete_solutions(solution, 1);
  fclib_delete_local(same);
}

#endif

// (W + W') / 2 of a file with compressed columns, in our order.
MatX permuted_W(const fs::path& file) {
  const Doubles p = get_doubles(file, "/fclib_local/W/p");
  const Doubles i = get_doubles(file, "/fclib_local/W/i");
  const Doubles x = get_doubles(file, "/fclib_local/W/x");
  const auto place = [](int k) { return 3 * (k / 3) + (k + 2) % 3; };
  MatX W = MatX::Zero(static_cast<Eigen::Index>(p.size()) - 1, static_cast<Eigen::Index>(p.size()) - 1);
  for (int c = 0; c < W.cols(); ++c) {
    const auto end = static_cast<std::size_t>(p[static_cast<std::size_t>(c) + 1]);
    for (auto k = static_cast<std::size_t>(p[static_cast<std::size_t>(c)]); k < end; ++k) {
      W(place(static_cast<int>(i[k])), place(c)) += x[k];
    }
  }
  return 0.5 * (W + W.transpose());
}

fs::path collection() { return fs::path(SARRUS_SOURCE_DIR) / ".." / "shared" / "data" / "fclib"; }

TEST(FclibFile, ReadsTheCollection) {
  if (!fs::is_directory(collection())) GTEST_SKIP() << "no FCLIB files in " << collection();
  int loaded = 0;
  for (const auto& entry : fs::recursive_directory_iterator(collection())) {
    if (entry.path().extension() != ".hdf5" || fs::file_size(entry.path()) > 400000) continue;
    SCOPED_TRACE(entry.path().filename());
    const std::string family = entry.path().parent_path().filename();
    if (family == "FrictionContactProblem2D" || family == "RollingGlobal") {
      EXPECT_THROW(load_fclib(entry.path()), InputError);
      continue;
    }
    const FclibProblem p = load_fclib(entry.path());
    ++loaded;
    EXPECT_EQ(p.info.indefinite, family == "Confeti");
    EXPECT_EQ(p.stored.problem.rows_of(BlockKind::contact), 3 * p.info.contacts);
    // The one file with compressed rows is symmetric.
    if (p.info.global || p.info.contacts > 100) continue;
    EXPECT_LT(difference(p.stored.problem.dense_D_plus_R(), permuted_W(entry.path())),
              p.info.indefinite ? 1e-7 : 1e-12);
  }
  EXPECT_GE(loaded, 1);
}

// The condensed twin was computed elsewhere: it fixes signs and order of the global form.
TEST(FclibFile, GlobalProblemOfTheCollectionAgreesWithItsLocalTwin) {
  const fs::path folder = collection() / "GFC3D";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no FCLIB files in " << folder;
  const FclibProblem global = load_fclib(folder / "GFC3D_TwoRods1.hdf5");
  const FclibProblem local = load_fclib(folder / "GFC3D_TwoRods1-condensed.hdf5");
  EXPECT_LT(difference(global.stored.problem.dense_D_plus_R(), local.stored.problem.dense_D_plus_R()),
            1e-6);  // as it was printed
  EXPECT_LT(difference(global.stored.problem.v_free, local.stored.problem.v_free), 1e-14);
}

}  // namespace
}  // namespace sarrus::fclib_file_test
