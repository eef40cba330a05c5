// Problem files: what is loaded is what was saved, bit by bit, and nothing else is loaded.
#include "sarrus/problem_files/problem_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "io/hdf5_test_file.h"
#include "sarrus/math/error.h"
#include "sarrus/problem/judge.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/step/simulation.h"

#ifdef __SANITIZE_ADDRESS__
// HDF5 itself loses memory when it gives up on some damaged files.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#endif

namespace sarrus::problem_file_test {
namespace {

using namespace testing_io;

template <class A, class B>
void expect_same_bits(const A& a, const B& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); ++i) {
    const auto k = static_cast<std::ptrdiff_t>(i);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a.data()[k]), std::bit_cast<std::uint64_t>(b.data()[k])) << what << i;
  }
}

void expect_same_blocks(const ConstraintProblem& a, const ConstraintProblem& b) {
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (std::size_t i = 0; i < a.blocks.size(); ++i) {
    const ConstraintBlock& x = a.blocks[i];
    const ConstraintBlock& y = b.blocks[i];
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.source_kind, y.source_kind);
    EXPECT_EQ(x.rows, y.rows);
    EXPECT_EQ(x.nodes, y.nodes);
    EXPECT_EQ(x.row, y.row);
    EXPECT_EQ(x.source, y.source);
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(x.mu), std::bit_cast<std::uint64_t>(y.mu));
    for (int k = 0; k < x.nodes; ++k) {
      EXPECT_EQ(x.node[k], y.node[k]);
      EXPECT_EQ(x.jac[k], y.jac[k]);
    }
  }
}

void expect_same_problem(const ConstraintProblem& a, const ConstraintProblem& b) {
  EXPECT_EQ(a.node_size, b.node_size);
  EXPECT_EQ(a.node_offset, b.node_offset);
  EXPECT_EQ(a.mass_offset, b.mass_offset);
  EXPECT_EQ(a.velocity_size(), b.velocity_size());
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.physical, b.physical);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.dt), std::bit_cast<std::uint64_t>(b.dt));
  for (const BlockKind k : {BlockKind::joint, BlockKind::soft, BlockKind::limit, BlockKind::contact}) {
    EXPECT_EQ(a.rows_of(k), b.rows_of(k));
  }
  expect_same_bits(a.mass, b.mass, "mass ");
  expect_same_bits(a.mass_inverse, b.mass_inverse, "mass_inverse ");
  expect_same_bits(a.u_free, b.u_free, "u_free ");
  expect_same_bits(a.jacobian, b.jacobian, "jacobian ");
  expect_same_bits(a.R, b.R, "R ");
  expect_same_bits(a.bias, b.bias, "bias ");
  expect_same_bits(a.lower, b.lower, "lower ");
  expect_same_bits(a.upper, b.upper, "upper ");
  expect_same_bits(a.v_free, b.v_free, "v_free ");
  expect_same_blocks(a, b);
}

// A joint, a bounded soft row, a limit and two contacts on three nodes of different sizes.
ConstraintProblem small_problem() {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6, 2});
  for (std::size_t t = 0; t < 3; ++t) {
    const int n = p.node_size[t];
    for (int i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(p.mass_offset[t] + i * (n + 1));
      p.mass[k] = 1.0 + i + static_cast<double>(t);
      p.mass_inverse[k] = 1 / p.mass[k];
    }
  }
  p.u_free.setLinSpaced(p.velocity_size(), -1, 1.0 / 3);
  p.dt = 1e-3;
  const int pair[] = {0, 1};
  const int other[] = {2};
  p.add_block(BlockKind::joint, 5, pair);
  p.add_block(BlockKind::soft, 1, pair);
  p.lower.back() = -0.25;
  p.upper.back() = 0.5;
  p.add_block(BlockKind::limit, 1, other);
  for (int c = 0; c < 2; ++c) {
    ConstraintBlock& b = p.add_block(BlockKind::contact, 3, pair);
    b.source_kind = RowSource::contact;
    b.source = c;
    b.mu = 0.1 + c;
    b.id = 0xfedcba9876543210u + static_cast<std::uint64_t>(c);
  }
  for (std::size_t i = 0; i < p.jacobian.size(); ++i) p.jacobian[i] = std::sin(1.0 + static_cast<double>(i));
  for (std::size_t i = 0; i < p.bias.size(); ++i) p.bias[i] = i == 0 ? -0.0 : 1e-310 * static_cast<double>(i);
  p.R[5] = 1e-3;
  p.finish();
  return p;
}

TEST(ProblemFile, KeepsProblemsOfScenesBitByBit) {
  const TemporaryFolder folder;
  for (const char* scene : {"box_on_plane", "fourbar_free", "slider_crank", "jansen_walker", "stack15"}) {
    SCOPED_TRACE(scene);
    if (!is_builtin_scene(scene)) {
      ADD_FAILURE() << "no such scene";
      continue;
    }
    Simulation sim(make_scene(scene));
    for (int i = 0; i < 30; ++i) sim.step();
    const fs::path file = folder / "problem.h5";
    save_problem(file, sim.problem(), sim.warm_start_impulses(), sim.impulses());
    const StoredProblem loaded = load_problem(file);
    EXPECT_EQ(loaded.kind, "sarrus problem");
    expect_same_problem(sim.problem(), loaded.problem);
    expect_same_bits(sim.warm_start_impulses(), loaded.warm, "warm ");
    expect_same_bits(sim.impulses(), loaded.solution, "solution ");
    // Saved again it is the same file.
    save_problem(folder / "again.h5", loaded.problem, loaded.warm, loaded.solution);
    EXPECT_EQ(read_text(file), read_text(folder / "again.h5"));
  }
}

TEST(ProblemFile, SolverGetsTheWarmStartThatIsReported) {
  Simulation sim(make_scene("box_on_plane"));
  while (sim.problem().rows() == 0) sim.step();
  for (int i = 0; i < 5; ++i) sim.step();
  const std::vector<double> before(sim.impulses().begin(), sim.impulses().end());
  sim.step();
  ASSERT_EQ(sim.warm_start_impulses().size(), sim.impulses().size());
  ASSERT_EQ(sim.report().contacts_matched, sim.report().contacts);
  // Contacts of a box at rest keep their frames: the warm start is the last answer.
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(sim.warm_start_impulses()[i], before[i], 1e-9);
}

TEST(ProblemFile, KeepsEveryField) {
  const TemporaryFolder folder;
  ConstraintProblem p = small_problem();
  p.physical = false;
  save_problem(folder / "p.h5", p);
  const StoredProblem loaded = load_problem(folder / "p.h5");
  expect_same_problem(p, loaded.problem);
  EXPECT_TRUE(loaded.warm.empty());
  EXPECT_TRUE(loaded.solution.empty());
  EXPECT_EQ(problem_format(folder / "p.h5"), ProblemFormat::sarrus);
}

TEST(ProblemFile, KeepsBlocksOfUpToEightNodes) {
  const TemporaryFolder folder;
  for (const int count : {4, 5, 8}) {
    ConstraintProblem p;
    p.set_nodes(std::vector<int>(8, 1));
    p.mass.assign(8, 2.0);
    p.mass_inverse.assign(8, 0.5);
    const int nodes[] = {7, 0, 3, 1, 6, 2, 5, 4};
    p.add_block(BlockKind::joint, 1, {nodes, static_cast<std::size_t>(count)});
    for (std::size_t i = 0; i < p.jacobian.size(); ++i) p.jacobian[i] = 1.0 + static_cast<double>(i);
    p.finish();
    save_problem(folder / "wide.h5", p);
    expect_same_problem(p, load_problem(folder / "wide.h5").problem);
  }
}

TEST(ProblemFile, KeepsAProblemWithoutConstraints) {
  const TemporaryFolder folder;
  ConstraintProblem p = small_problem();
  p.clear_constraints();
  p.finish();
  save_problem(folder / "p.h5", p);
  expect_same_problem(p, load_problem(folder / "p.h5").problem);
  p.set_nodes({});
  save_problem(folder / "p.h5", p);
  expect_same_problem(p, load_problem(folder / "p.h5").problem);
}

TEST(ProblemFile, WritesWholeFilesOrNone) {
  const TemporaryFolder folder;
  const ConstraintProblem p = small_problem();
  const std::vector<double> wrong(3, 0.0);
  EXPECT_THROW(save_problem(folder / "p.h5", p, wrong), InputError);
  EXPECT_THROW(save_problem(folder / "p.h5", p, {}, wrong), InputError);
  EXPECT_THROW(save_problem(folder / "no/such/folder/p.h5", p), InputError);
  EXPECT_THROW(save_problem(folder.path(), p), InputError);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

using Ints = std::vector<int>;
using Doubles = std::vector<double>;

template <class T>
std::function<void(const fs::path&)> put(const char* name, T values) {
  return [=](const fs::path& file) { RawFile(file, RawFile::change).put(name, values); };
}

// Changes one entry of a data set of doubles.
std::function<void(const fs::path&)> change(const char* name, std::size_t index, double value) {
  return [=](const fs::path& file) {
    Doubles values = get_doubles(file, name);
    values.at(index) = value;
    RawFile(file, RawFile::change).put(name, values);
  };
}
std::function<void(const fs::path&)> change_int(const char* name, std::size_t index, int value) {
  return [=](const fs::path& file) {
    const Doubles old = get_doubles(file, name);
    Ints values(old.begin(), old.end());
    values.at(index) = value;
    RawFile(file, RawFile::change).put(name, values);
  };
}
std::function<void(const fs::path&)> drop(const char* name) {
  return [=](const fs::path& file) { RawFile(file, RawFile::change).remove(name); };
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(ProblemFile, RefusesWhatIsNoProblemFile) {
  const TemporaryFolder folder;
  save_problem(folder / "p.h5", small_problem());
  const std::string bytes = read_text(folder / "p.h5");
  const std::vector<Damage> table = {
      {"empty", [](const fs::path& f) { write_text(f, ""); }, {"empty"}},
      {"text", [](const fs::path& f) { write_text(f, "{\"bodies\": []}"); }, {"not an HDF5 file"}},
      {"half", [&](const fs::path& f) { write_text(f, bytes.substr(0, bytes.size() / 2)); }, {"truncated"}},
      {"one byte short", [&](const fs::path& f) { write_text(f, bytes.substr(0, bytes.size() - 1)); }, {"truncated"}},
      {"signature alone", [&](const fs::path& f) { write_text(f, bytes.substr(0, 8)); }, {"truncated"}},
      {"missing", [](const fs::path& f) { fs::remove(f); }, {"does not exist"}},
      {"directory",
       [](const fs::path& f) {
         fs::remove(f);
         fs::create_directory(f);
       },
       {"directory"}},
      {"other HDF5", [](const fs::path& f) { RawFile(f, RawFile::create).put("/x", Ints{1}); }, {"format"}},
      {"no version", [](const fs::path& f) { RawFile(f, RawFile::change).remove_attribute("version"); }, {"version"}},
      {"new version", [](const fs::path& f) { RawFile(f, RawFile::change).attribute("version", 2); }, {"version", "2"}},
      {"physical", [](const fs::path& f) { RawFile(f, RawFile::change).attribute("physical", 7); }, {"physical"}},
      {"dt of wrong type", [](const fs::path& f) { RawFile(f, RawFile::change).attribute("dt", 7); }, {"dt"}},
      {"format of wrong type",
       [](const fs::path& f) { RawFile(f, RawFile::change).attribute("format", 7); },
       {"format"}}};
  expect_damage_found<InputError>(folder, folder / "p.h5", table, [](const fs::path& f) { load_problem(f); });
}

TEST(ProblemFile, RefusesBadDataByName) {
  const TemporaryFolder folder;
  const ConstraintProblem p = small_problem();
  save_problem(folder / "p.h5", p, Doubles(static_cast<std::size_t>(p.rows()), 0.0));
  const std::vector<Damage> table = {
      {"no masses", drop("/nodes/mass"), {"/nodes/mass", "missing"}},
      {"no blocks", drop("/blocks"), {"/blocks/kind", "missing"}},
      {"group for data",
       [](const fs::path& f) {
         RawFile file(f, RawFile::change);
         file.remove("/jacobian");
         file.group("/jacobian");
       },
       {"/jacobian", "not a readable data set"}},
      {"integers for doubles", put("/nodes/mass", Ints(76, 1)), {"/nodes/mass", "integers"}},
      {"doubles for integers", put("/nodes/size", Doubles{6, 6, 2}), {"/nodes/size", "floating-point"}},
      {"short masses", put("/nodes/mass", Doubles(75, 1.0)), {"/nodes/mass", "75", "76"}},
      {"long bias", put("/rows/bias", Doubles(14, 1.0)), {"/rows/bias", "14", "13"}},
      {"hollow",
       [](const fs::path& f) { RawFile(f, RawFile::change).put_hollow("/jacobian", 1000000000); },
       {"/jacobian", "more than the file can hold"}},
      {"short jacobian", put("/jacobian", Doubles(10, 1.0)), {"/jacobian", "10"}},
      {"long jacobian", put("/jacobian", Doubles(1000, 1.0)), {"/jacobian", "1000"}},
      {"NaN in u_free", change("/nodes/u_free", 3, kNan), {"/nodes/u_free", "3"}},
      {"infinite mass", change("/nodes/mass", 0, kInf), {"/nodes/mass"}},
      {"NaN in jacobian", change("/jacobian", 7, kNan), {"/jacobian", "7"}},
      {"NaN bound", change("/rows/lower", 5, kNan), {"/rows/lower"}},
      {"crossed bounds", change("/rows/lower", 5, 1.0), {"/rows/lower", "above"}},
      {"bounded joint", change("/rows/lower", 0, -1.0), {"/rows/lower", "soft"}},
      {"negative R", change("/rows/R", 2, -1e-9), {"/rows/R", "row 2"}},
      {"NaN in warm start", change("/lambda_warm", 1, kNan), {"/lambda_warm"}},
      {"short warm start", put("/lambda_warm", Doubles(3, 0.0)), {"/lambda_warm", "3", "13"}},
      {"short solution", put("/lambda", Doubles(3, 0.0)), {"/lambda", "3", "13"}},
      {"negative mass", change("/nodes/mass", 0, -1.0), {"/nodes/mass", "node 0", "positive definite"}},
      {"unsymmetric mass", change("/nodes/mass", 1, 0.1), {"/nodes/mass", "node 0", "symmetric"}},
      {"wrong inverse", change("/nodes/mass_inverse", 0, 1.1), {"/nodes/mass_inverse", "node 0"}},
      {"negative mu", change("/blocks/mu", 4, -0.1), {"/blocks/mu", "4"}},
      {"NaN mu", change("/blocks/mu", 4, kNan), {"/blocks/mu", "4"}},
      {"node size 0", put("/nodes/size", Ints{6, 0, 2}), {"/nodes/size"}},
      {"node size -6", put("/nodes/size", Ints{6, -6, 2}), {"/nodes/size"}},
      {"huge node", put("/nodes/size", Ints{6, 2000000000, 2}), {"/nodes/size"}},
      {"wide integer", put("/nodes/size", std::vector<std::int64_t>{6, 1ll << 40, 2}), {"/nodes/size"}},
      {"node out of range", change_int("/blocks/node", 1, 3), {"/blocks/node", "outside"}},
      {"negative node", change_int("/blocks/node", 1, -1), {"/blocks/node", "outside"}},
      {"equal nodes", change_int("/blocks/node", 1, 0), {"/blocks/node", "twice"}},
      {"five nodes", change_int("/blocks/nodes", 0, 5), {"/blocks/nodes"}},
      {"no nodes", change_int("/blocks/nodes", 0, 0), {"/blocks/nodes"}},
      {"unknown kind", change_int("/blocks/kind", 4, 9), {"/blocks/kind"}},
      {"unknown source", change_int("/blocks/source_kind", 4, 99), {"/blocks/source_kind"}},
      {"wrong order", change_int("/blocks/kind", 1, 3), {"/blocks/"}},
      {"order", change_int("/blocks/kind", 2, 0), {"/blocks/kind", "order"}},
      {"contact of 2 rows", change_int("/blocks/rows", 3, 2), {"/blocks/rows"}},
      {"rows", change_int("/blocks/rows", 0, 7), {"/blocks/rows"}},
      {"first row", change_int("/blocks/row", 1, 4), {"/blocks/row"}},
      {"jacobian offset", change_int("/blocks/jac", 1, 0), {"/blocks/jac"}},
      {"negative offset", change_int("/blocks/jac", 1, -8), {"/blocks/jac"}},
      {"short ids", put("/blocks/id", Ints{1, 2}), {"/blocks/id"}}};
  expect_damage_found<InputError>(folder, folder / "p.h5", table, [](const fs::path& f) { load_problem(f); });
}

TEST(ProblemFile, NoiseDoesNotCrash) {
  const TemporaryFolder folder;
  save_problem(folder / "p.h5", small_problem());
  expect_survives_noise<InputError>(folder, folder / "p.h5", [](const fs::path& f) {
    problem_format(f);
    load_problem(f);
  });
}

}  // namespace
}  // namespace sarrus::problem_file_test
