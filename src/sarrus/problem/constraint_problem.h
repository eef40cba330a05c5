// The constraint problem of one step: everything a solver may know (docs/theory/problem.md §1).
//
//   M (u - u_f) = J' lambda,   sigma = J u + v* + R lambda,   lambda in K   perp   sigma + Gamma(sigma) in K*
//
// The unknown velocity u is split into nodes with any number of components: a body (6) in maximal
// coordinates, a kinematic tree in reduced ones. M is block diagonal by node. Constraint blocks touch one to
// eight nodes and come in the order joints | soft rows | limits | contacts, with the sets
//   joint    lambda free,  sigma = 0
//   soft     lower <= lambda <= upper     (drives, springs, dampers, dry friction)
//   limit    0 <= lambda  perp  sigma >= 0
//   contact  rows [t, o, n], friction cone |lambda_T| <= mu lambda_N
// lambda are impulses over the step (N s, N m s); R is diagonal (1/kg or 1/(kg m^2)); v* in m/s or rad/s.
// Storage is flat and reused: clear_constraints() keeps the memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sarrus/math/growing_vector.h"
#include "sarrus/math/types.h"

namespace sarrus {

enum class BlockKind : std::uint8_t { joint, soft, limit, contact };

// Where a block came from: for messages, warm-start identity and reports; solvers ignore it.
enum class RowSource : std::uint8_t {
  joint,         // source = joint
  locked_dof,    // source = dof with equal limits
  coupling,      // source = coupling
  servo,         // source = dof
  passive,       // source = dof: spring, damper, armature
  dry_friction,  // source = dof
  limit_lower,   // source = dof
  limit_upper,   // source = dof
  swing_limit,   // source = joint
  rope,          // source = joint
  contact,       // source = index into the step's contact list
  drag           // source = body
};

// Identity of a block that is no contact.
inline std::uint64_t block_id(RowSource source_kind, int source) {
  return static_cast<std::uint64_t>(source_kind) << 32 | static_cast<std::uint32_t>(source);
}

inline constexpr int kMaxBlockNodes = 8;  // couplings need up to 4, combinations of coordinates more
inline constexpr int kMaxBlockRows = 6;

struct ConstraintBlock {
  BlockKind kind = BlockKind::joint;
  RowSource source_kind = RowSource::joint;
  std::int16_t rows = 0;
  std::int16_t nodes = 0;
  int row = 0;                    // first row
  int node[kMaxBlockNodes] = {};  // distinct
  int jac[kMaxBlockNodes] = {};   // offset in `jacobian` of the row-major (rows x node size) block
  int source = -1;
  double mu = 0;         // contacts
  std::uint64_t id = 0;  // stable from step to step
};

// The connected components of the graph whose edges are the constraint blocks: nothing done to one island changes
// another. Islands come in the order of their lowest nodes, their nodes and blocks ascend. Nodes that no constraint
// touches belong to none.
class Islands {
 public:
  void find(int node_count, std::span<const ConstraintBlock> blocks);

  int count() const { return count_; }
  int block_count() const { return static_cast<int>(blocks_.size()); }  // of all islands: those that have nodes
  int of_node(int node) const { return island_[static_cast<std::size_t>(node)]; }  // -1: none
  int of(const ConstraintBlock& block) const { return block.nodes > 0 ? of_node(block.node[0]) : -1; }
  std::span<const int> nodes(int island) const { return part(nodes_, node_begin_, island); }
  std::span<const int> blocks(int island) const { return part(blocks_, block_begin_, island); }
  // By node: its place in nodes(island).
  std::span<const int> local_node() const { return local_node_; }

 private:
  static std::span<const int> part(const std::vector<int>& list, const std::vector<int>& begin, int island) {
    const auto i = static_cast<std::size_t>(island);
    return {list.data() + begin[i], list.data() + begin[i + 1]};
  }
  int root(int node);

  int count_ = 0;
  std::vector<int> parent_;  // union-find; the root of an island is its lowest node
  std::vector<int> island_, local_node_;
  std::vector<int> nodes_, node_begin_, blocks_, block_begin_;
};

class ConstraintProblem {
 public:
  // --- nodes -------------------------------------------------------------------------------------------
  // Sets the node layout; offsets of velocities and mass blocks follow. Values are filled by the caller.
  void set_nodes(std::span<const int> sizes);
  int node_count() const { return static_cast<int>(node_size.size()); }
  int velocity_size() const { return velocity_size_; }

  std::vector<int> node_size;
  std::vector<int> node_offset;  // into velocities
  std::vector<int> mass_offset;  // into mass and mass_inverse: column-major n_t x n_t blocks
  std::vector<double> mass;
  std::vector<double> mass_inverse;
  VecX u_free;    // u_f = u- + dt M^-1 h
  double dt = 0;  // s, for reports
  // False for a stored problem without masses or units of its own (FCLIB): there is no 1 m/s then.
  bool physical = true;

  // --- constraints -------------------------------------------------------------------------------------
  // Removes all constraint blocks, keeps the nodes and the memory.
  void clear_constraints() { keep_blocks(0); }
  // Removes all but the first blocks, for those whose nodes and rows are the same in every step: their values stay, and
  // are written over.
  void keep_blocks(int count);
  // Room for blocks of so many rows and Jacobian entries that are appended next, made at once; what of it they did not
  // use is given back by make_room(0, 0).
  void make_room(int rows, int entries);
  // Appends a block with zeroed Jacobian, R = 0, v* = 0, unbounded; blocks must come in segment order.
  // Nodes must be distinct.
  ConstraintBlock& add_block(BlockKind kind, int rows, std::span<const int> nodes);
  double* jacobian_row(const ConstraintBlock& block, int k, int r) {
    return jacobian.data() + block.jac[k] + r * node_size[static_cast<std::size_t>(block.node[k])];
  }
  // Fills the diagonal of the rows added so far; finish() does the others.
  void measure_rows();
  // Fills what follows from the rows: v_f, diagonal, scale, islands. Call once all rows are filled.
  void finish();

  int rows() const { return rows_; }
  int rows_of(BlockKind kind) const { return kind_rows_[static_cast<std::size_t>(kind)]; }

  std::vector<ConstraintBlock> blocks;
  std::vector<double> jacobian;
  std::vector<double> R;
  std::vector<double> bias;   // v*
  std::vector<double> lower;  // bounds of soft rows; -inf/inf elsewhere
  std::vector<double> upper;
  // Of finish():
  GrowingVector v_free;    // v_f = J u_f + v*
  GrowingVector diagonal;  // (D + R)_ii, D = J M^-1 J'
  // p = (D + R)_ii^-1/2, which equilibrates the rows: lambda / p and p sigma are both roots of energies. The rows of a
  // contact share one p, that of the mean of their three diagonals (of the normal one without friction), so that mu,
  // Gamma and the cone stay as they are.
  GrowingVector scale;
  // What the judge measures a row by at least, sqrt(J). With f = max(|v_f^|, p 1 m/s), v_f^ = p v_f, of a contact the
  // largest of its rows, and E the largest sqrt(u_f' M u_f) of a node of the island: max(f, min(E, 1000 f)). Without
  // units: the largest |v_f^| of the island.
  GrowingVector least_size;
  Islands islands;

  // --- operators (no allocation if the outputs have the right size) -------------------------------------
  // `of`: some blocks from the first on instead of all.
  void multiply_J(const VecX& u, Eigen::Ref<VecX> out) const { multiply_J(blocks, u, out); }               // out = J u
  void multiply_Jt(std::span<const double> lambda, VecX& out) const { multiply_Jt(blocks, lambda, out); }  // J' lambda
  void multiply_J(std::span<const ConstraintBlock> of, const VecX& u, Eigen::Ref<VecX> out) const;
  void multiply_Jt(std::span<const ConstraintBlock> of, std::span<const double> lambda, VecX& out) const;
  // Of one block: out = J u, by its rows; out += J' lambda. Velocities are whole vectors.
  void multiply_J(const ConstraintBlock& block, const double* u, double* out) const;
  void add_Jt(const ConstraintBlock& block, const double* lambda, double* out) const;
  // Of listed blocks, which have nodes: their rows of out = J u; out += J' lambda. Of listed nodes: out = M^-1 f.
  void multiply_J(std::span<const int> of, const VecX& u, Eigen::Ref<VecX> out) const;
  void add_Jt(std::span<const int> of, std::span<const double> lambda, VecX& out) const;
  void multiply_M_inverse(std::span<const int> of, const VecX& f, VecX& out) const;
  void multiply_M(const VecX& u, VecX& out) const;          // out = M u
  void multiply_M_inverse(const VecX& f, VecX& out) const;  // out = M^-1 f
  // diag(D) + R per row, D = J M^-1 J'.
  void diagonal_D_plus_R(Eigen::Ref<VecX> out) const { diagonal_D_plus_R(blocks, out); }
  void diagonal_D_plus_R(std::span<const ConstraintBlock> of, Eigen::Ref<VecX> out) const;
  // Dense D + R: reference paths and small problems only.
  MatX dense_D_plus_R() const;
  MatX dense_J() const;

 private:
  int velocity_size_ = 0;
  bool all_six_ = false;
  void multiply_J_any(const ConstraintBlock& block, const double* u, double* out) const;
  void add_Jt_any(const ConstraintBlock& block, const double* lambda, double* out) const;
  void measure_block(const ConstraintBlock& block, double* diagonal) const;
  void scale_rows();
  void size_rows();

  int rows_ = 0;
  int entries_ = 0;          // of the Jacobian
  int measured_blocks_ = 0;  // whose diagonal is there
  int kind_rows_[4] = {};
};

}  // namespace sarrus
