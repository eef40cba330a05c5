#include "sarrus/problem_files/problem_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sarrus/files/hdf5_reader.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/dense.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;
using hdf5::File;
using hdf5::Reader;

constexpr const char* kFormat = "sarrus-problem";
constexpr int kVersion = 1;
constexpr const char* kWriteAgain = "write it again with sarrus run --dump-problems";

void write_vector(const File& file, const std::string& name, std::span<const double> values,
                  const hdf5::Meaning& meaning) {
  file.table<double>(name, {values.size()}, values, meaning);
}

void write_nodes(const File& file, const ConstraintProblem& p) {
  file.group("/nodes");
  const std::vector<std::int32_t> sizes(p.node_size.begin(), p.node_size.end());
  file.table<std::int32_t>("/nodes/size", {sizes.size()}, sizes, {"1", "velocity components of each node"});
  write_vector(file, "/nodes/mass", p.mass, {"kg, kg m^2", "mass matrix, column-major block by node"});
  write_vector(file, "/nodes/mass_inverse", p.mass_inverse, {"1/kg, 1/(kg m^2)", "its inverse, block by node"});
  write_vector(file, "/nodes/u_free", {p.u_free.data(), static_cast<std::size_t>(p.u_free.size())},
               {"m/s, rad/s", "velocity without constraint impulses"});
}

// Columns of the tables of nodes: files of blocks that touch more than four are wider.
constexpr int kUsualWidth = 4;

void write_blocks(const File& file, const ConstraintProblem& p) {
  const bool wide = std::any_of(p.blocks.begin(), p.blocks.end(), [](const auto& b) { return b.nodes > kUsualWidth; });
  const auto width = static_cast<std::size_t>(wide ? kMaxBlockNodes : kUsualWidth);
  hdf5::Table<std::int32_t> kind, source_kind, rows, nodes, row, source, node{width, {}}, jac{width, {}};
  std::vector<double> mu;
  std::vector<std::uint64_t> id;
  for (const ConstraintBlock& b : p.blocks) {
    kind.values.push_back(static_cast<std::int32_t>(b.kind));
    source_kind.values.push_back(static_cast<std::int32_t>(b.source_kind));
    rows.values.push_back(b.rows);
    nodes.values.push_back(b.nodes);
    row.values.push_back(b.row);
    source.values.push_back(b.source);
    node.add(std::span<const int>(b.node, width));
    jac.add(std::span<const int>(b.jac, width));
    mu.push_back(b.mu);
    id.push_back(b.id);
  }
  file.group("/blocks");
  kind.write(file, "/blocks/kind", {"1", "0 joint, 1 soft, 2 limit, 3 contact; in this order"});
  source_kind.write(file, "/blocks/source_kind", {"1", "what the block stems from, for reports"});
  rows.write(file, "/blocks/rows", {"1", "rows of the block"});
  nodes.write(file, "/blocks/nodes", {"1", "nodes that the block touches"});
  row.write(file, "/blocks/row", {"1", "first row"});
  source.write(file, "/blocks/source", {"1", "index of the joint, coordinate or contact; -1: none"});
  node.write(file, "/blocks/node", {"1", "touched nodes; the first `nodes` entries count"});
  jac.write(file, "/blocks/jac", {"1", "offsets of the Jacobian blocks in /jacobian"});
  write_vector(file, "/blocks/mu", mu, {"1", "friction coefficient of contacts"});
  file.table<std::uint64_t>("/blocks/id", {id.size()}, id, {"1", "identity from step to step"});
}

void write_rows(const File& file, const ConstraintProblem& p) {
  file.group("/rows");
  write_vector(file, "/jacobian", p.jacobian, {"1, m", "row-major blocks (rows x node size)"});
  write_vector(file, "/rows/R", p.R, {"1/kg, 1/(kg m^2)", "compliance"});
  write_vector(file, "/rows/bias", p.bias, {"m/s, rad/s", "v*"});
  write_vector(file, "/rows/lower", p.lower, {"N s, N m s", "lower bounds of soft rows"});
  write_vector(file, "/rows/upper", p.upper, {"N s, N m s", "upper bounds of soft rows"});
}

void require_size(const fs::path& path, const char* what, std::span<const double> values, int rows) {
  if (values.empty() || values.size() == static_cast<std::size_t>(rows)) return;
  throw InputError(path.string(),
                   fmt::format("{} has {} numbers for {} rows; give one per row or none", what, values.size(), rows));
}

// The data sets /blocks/*, one entry per block (node and jac: `width`).
struct BlockTable {
  int width = kUsualWidth;
  std::vector<int> kind, source_kind, rows, nodes, row, source, node, jac;
  std::vector<double> mu;
  std::vector<std::uint64_t> id;
};

constexpr double kSymmetry = 1e-9;
constexpr double kInverse = 1e-6;
constexpr std::int64_t kMaxNumbers = 1 << 30;  // what int offsets can address

void check_range(const Reader& file, const char* name, std::size_t block, int value, int low, int high) {
  if (value >= low && value <= high) return;
  file.fail(name, fmt::format("entry {} is {}, outside {}..{}", block, value, low, high));
}

void check_nodes(const Reader& file, const BlockTable& t, std::size_t i, int node_count) {
  check_range(file, "/blocks/nodes", i, t.nodes[i], 1, t.width);
  const int* node = t.node.data() + i * static_cast<std::size_t>(t.width);
  for (int k = 0; k < t.nodes[i]; ++k) {
    check_range(file, "/blocks/node", i, node[k], 0, node_count - 1);
    for (int l = 0; l < k; ++l) {
      if (node[l] == node[k]) file.fail("/blocks/node", fmt::format("block {} names node {} twice", i, node[k]));
    }
  }
}

void check_block(const Reader& file, const BlockTable& t, std::size_t i, int node_count) {
  check_range(file, "/blocks/kind", i, t.kind[i], 0, static_cast<int>(BlockKind::contact));
  check_range(file, "/blocks/source_kind", i, t.source_kind[i], 0, static_cast<int>(RowSource::drag));
  if (i > 0 && t.kind[i] < t.kind[i - 1]) {
    file.fail("/blocks/kind", fmt::format("entry {} breaks the order joints, soft rows, limits, contacts", i));
  }
  const bool contact = t.kind[i] == static_cast<int>(BlockKind::contact);
  check_range(file, "/blocks/rows", i, t.rows[i], contact ? 3 : 1, contact ? 3 : kMaxBlockRows);
  check_nodes(file, t, i, node_count);
  if (!(t.mu[i] >= 0)) file.fail("/blocks/mu", fmt::format("entry {} is {}, friction is >= 0", i, t.mu[i]));
}

// Returns how many numbers the blocks of the nodes have.
std::int64_t check_node_sizes(const Reader& file, const std::vector<int>& sizes) {
  std::int64_t numbers = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1) file.fail("/nodes/size", fmt::format("entry {} is {}, sizes are >= 1", i, sizes[i]));
    numbers += static_cast<std::int64_t>(sizes[i]) * sizes[i];
    if (numbers > kMaxNumbers) file.fail("/nodes/size", "the nodes are larger than memory can hold");
  }
  return numbers;
}

// Masses are symmetric, positive definite and the inverse of what is stored as their inverse.
void check_masses(const Reader& file, const ConstraintProblem& p) {
  for (std::size_t i = 0; i < p.node_size.size(); ++i) {
    const int n = p.node_size[i];
    const Eigen::Map<const MatX> M(p.mass.data() + p.mass_offset[i], n, n);
    const Eigen::Map<const MatX> W(p.mass_inverse.data() + p.mass_offset[i], n, n);
    const auto bad = [&](const char* name, const char* what) {
      file.fail(name, fmt::format("the block of node {} is {}", i, what));
    };
    if ((M - M.transpose()).cwiseAbs().maxCoeff() > kSymmetry * M.cwiseAbs().maxCoeff()) {
      bad("/nodes/mass", "not symmetric");
    }
    if (!is_positive_definite(M)) bad("/nodes/mass", "not positive definite");
    if (!((M * W - MatX::Identity(n, n)).cwiseAbs().maxCoeff() <= kInverse)) {
      bad("/nodes/mass_inverse", "not the inverse of the mass");
    }
  }
}

// Adds the blocks to a problem that has its nodes. `jacobian_size` is what the file stores.
void add_blocks(const Reader& file, const BlockTable& t, std::int64_t jacobian_size, ConstraintProblem& p) {
  std::int64_t numbers = 0;
  for (std::size_t i = 0; i < t.kind.size(); ++i) {
    check_block(file, t, i, p.node_count());
    const int* node = t.node.data() + i * static_cast<std::size_t>(t.width);
    const int* jac = t.jac.data() + i * static_cast<std::size_t>(t.width);
    for (int k = 0; k < t.nodes[i]; ++k) {
      if (jac[k] != numbers) {
        file.fail("/blocks/jac", fmt::format("block {} starts at {}, its place is {}", i, jac[k], numbers));
      }
      numbers += static_cast<std::int64_t>(t.rows[i]) * p.node_size[static_cast<std::size_t>(node[k])];
    }
    if (numbers > jacobian_size) break;
    if (t.row[i] != p.rows()) {
      file.fail("/blocks/row", fmt::format("block {} starts at row {}, its place is {}", i, t.row[i], p.rows()));
    }
    ConstraintBlock& b =
        p.add_block(static_cast<BlockKind>(t.kind[i]), t.rows[i], {node, static_cast<std::size_t>(t.nodes[i])});
    b.source_kind = static_cast<RowSource>(t.source_kind[i]);
    b.source = t.source[i];
    b.mu = t.mu[i];
    b.id = t.id[i];
  }
  if (numbers != jacobian_size) {
    file.fail("/jacobian", fmt::format("has {} numbers, the blocks need {}{}", jacobian_size,
                                       numbers > jacobian_size ? "at least " : "", numbers));
  }
}

// Compliance >= 0, bounds in order and on soft rows only.
void check_rows(const Reader& file, const ConstraintProblem& p) {
  for (const ConstraintBlock& b : p.blocks) {
    for (int r = b.row; r < b.row + b.rows; ++r) {
      const auto i = static_cast<std::size_t>(r);
      if (p.R[i] < 0) file.fail("/rows/R", fmt::format("row {} is {}, compliance is >= 0", r, p.R[i]));
      if (p.lower[i] > p.upper[i]) {
        file.fail("/rows/lower", fmt::format("row {}: lower bound {} above the upper {}", r, p.lower[i], p.upper[i]));
      }
      const bool bounded = std::isfinite(p.lower[i]) || std::isfinite(p.upper[i]);
      if (bounded && b.kind != BlockKind::soft) {
        file.fail("/rows/lower", fmt::format("row {} is bounded, which only soft rows are", r));
      }
    }
  }
}

// The layout that add_block() gives is part of the format, so that a problem has one representation only.
void read_blocks(const Reader& file, ConstraintProblem& p) {
  BlockTable t;
  t.kind = file.ints("/blocks/kind", hdf5::kAnySize);
  const auto n = static_cast<std::int64_t>(t.kind.size());
  t.source_kind = file.ints("/blocks/source_kind", n);
  t.rows = file.ints("/blocks/rows", n);
  t.nodes = file.ints("/blocks/nodes", n);
  t.row = file.ints("/blocks/row", n);
  t.source = file.ints("/blocks/source", n);
  t.node = file.ints("/blocks/node", hdf5::kAnySize);
  if (n > 0 && static_cast<std::int64_t>(t.node.size()) == n * kMaxBlockNodes) t.width = kMaxBlockNodes;
  t.node = file.ints("/blocks/node", n * t.width);
  t.jac = file.ints("/blocks/jac", n * t.width);
  t.mu = file.doubles("/blocks/mu", n);
  t.id = file.ids("/blocks/id", n);
  const std::vector<double> jacobian = file.doubles("/jacobian", hdf5::kAnySize);
  add_blocks(file, t, static_cast<std::int64_t>(jacobian.size()), p);
  p.jacobian = jacobian;
}

void read_rows(const Reader& file, ConstraintProblem& p) {
  p.R = file.doubles("/rows/R", p.rows());
  p.bias = file.doubles("/rows/bias", p.rows());
  p.lower = file.doubles("/rows/lower", p.rows(), hdf5::Finite::infinite_allowed);
  p.upper = file.doubles("/rows/upper", p.rows(), hdf5::Finite::infinite_allowed);
  check_rows(file, p);
}

void read_nodes(const Reader& file, ConstraintProblem& p) {
  const std::vector<int> sizes = file.ints("/nodes/size", hdf5::kAnySize);
  // What the file holds comes first: the memory of the nodes is taken when it is there.
  const std::int64_t numbers = check_node_sizes(file, sizes);
  std::vector<double> mass = file.doubles("/nodes/mass", numbers);
  std::vector<double> mass_inverse = file.doubles("/nodes/mass_inverse", numbers);
  p.set_nodes(sizes);
  std::copy(mass.begin(), mass.end(), p.mass.begin());
  std::copy(mass_inverse.begin(), mass_inverse.end(), p.mass_inverse.begin());
  const std::vector<double> u_free = file.doubles("/nodes/u_free", p.velocity_size());
  p.u_free = Eigen::Map<const VecX>(u_free.data(), static_cast<Eigen::Index>(u_free.size()));
  check_masses(file, p);
}

void check_format(const Reader& file) {
  if (!file.has_attribute("format") || file.text_attribute("format") != kFormat) {
    throw InputError(file.path(), fmt::format("is no problem file of sarrus (attribute 'format' is not '{}'); {}",
                                              kFormat, kWriteAgain));
  }
  const int version = file.int_attribute("version");
  if (version != kVersion) {
    throw InputError(file.path(), fmt::format("attribute 'version': {} is unknown, this program reads {}; write the "
                                              "file with this version or read it with a newer one",
                                              version, kVersion));
  }
}

}  // namespace

void save_problem(const fs::path& path, const ConstraintProblem& problem, std::span<const double> warm,
                  std::span<const double> solution) {
  require_size(path, "the warm start", warm, problem.rows());
  require_size(path, "the solution", solution, problem.rows());
  const File file(path.string(), hdf5::create_image());
  file.fixed_attribute(file.id(), "format", kFormat);
  file.attribute(file.id(), "version", kVersion);
  file.attribute(file.id(), "dt", problem.dt);
  file.attribute(file.id(), "physical", problem.physical ? 1 : 0);
  write_nodes(file, problem);
  write_blocks(file, problem);
  write_rows(file, problem);
  if (!warm.empty()) write_vector(file, "/lambda_warm", warm, {"N s, N m s", "impulses that the solver started from"});
  if (!solution.empty()) write_vector(file, "/lambda", solution, {"N s, N m s", "impulses that it found"});
  const std::string bytes = hdf5::image_bytes(file.handle());
  if (bytes.empty()) file.fail("cannot be completed");
  write_file_atomically(path, bytes);
}

StoredProblem load_problem(const fs::path& path) {
  const Reader file(path, kWriteAgain);
  check_format(file);
  StoredProblem stored;
  stored.kind = "sarrus problem";
  ConstraintProblem& p = stored.problem;
  p.dt = file.double_attribute("dt");
  if (!(p.dt >= 0 && std::isfinite(p.dt))) file.fail("attribute 'dt'", fmt::format("is {}", p.dt));
  const int physical = file.int_attribute("physical");
  if (physical != 0 && physical != 1) file.fail("attribute 'physical'", fmt::format("is {}, not 0 or 1", physical));
  p.physical = physical == 1;
  read_nodes(file, p);
  read_blocks(file, p);
  read_rows(file, p);
  p.finish();
  if (file.has("/lambda_warm")) stored.warm = file.doubles("/lambda_warm", p.rows());
  if (file.has("/lambda")) stored.solution = file.doubles("/lambda", p.rows());
  return stored;
}

void keep_hdf5_quiet() {
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

ProblemFormat problem_format(const fs::path& path) {
  const Reader file(path, "give a problem written by sarrus run --dump-problems or an FCLIB file");
  if (file.has_attribute("format")) return ProblemFormat::sarrus;
  for (const char* root : {"/fclib_local", "/fclib_global", "/fclib_global_rolling", "/fclib_local_rolling"}) {
    if (file.has(root)) return ProblemFormat::fclib;
  }
  throw InputError(path.string(),
                   "holds neither a problem of sarrus nor an FCLIB problem; give a problem written by "
                   "sarrus run --dump-problems or an FCLIB file");
}

}  // namespace sarrus
