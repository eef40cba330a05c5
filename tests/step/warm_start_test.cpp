// The warm-start cache: impulses are found again by identity, by place, or not at all.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "problem/random_problem.h"
#include "sarrus/math/cones.h"
#include "sarrus/math/so3.h"
#include "sarrus/rows/rows.h"
#include "sarrus/step/warm_start.h"

namespace sarrus::warm_start_test {
namespace {

constexpr double kDt = 1e-3;

struct Row {
  BlockKind kind;
  std::uint64_t id;
  int rows = 1;
};

// Two bodies with the given rows and contacts. Jacobians do not matter here.
ConstraintProblem make_problem(const std::vector<Row>& rows, const std::vector<Contact>& contacts, double dt = kDt) {
  ConstraintProblem p;
  p.set_nodes(std::vector<int>{6, 6});
  p.dt = dt;
  for (const Row& r : rows) {
    p.add_block(r.kind, r.rows, std::vector<int>{0, 1}).id = r.id;
    if (r.kind == BlockKind::limit) p.lower.back() = 0;
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    ConstraintBlock& b = p.add_block(BlockKind::contact, 3, std::vector<int>{0, 1});
    b.source_kind = RowSource::contact;
    b.source = static_cast<int>(i);
    b.mu = contacts[i].mu;
  }
  return p;
}

Contact contact(std::uint64_t key, const Vec3& p_W, const Vec3& n_W = Vec3::UnitZ(), double mu = 0.5) {
  Contact c;
  c.geom_a = 2;
  c.geom_b = 5;
  c.body_a = 0;
  c.body_b = 1;
  c.key.lo = key;
  c.p_W = p_W;
  c.n_W = n_W;
  c.mu = mu;
  c.size = 0.2;
  return c;
}

const std::vector<Pose> kPoses = {{Vec3(1, 2, 3), so3_exp(Vec3(0.3, 0.4, 0.5))},
                                  {Vec3(0, 1, 0), so3_exp(Vec3(1, 0, 2))}};

std::vector<double> load(WarmStart& w, const ConstraintProblem& p, const std::vector<Contact>& contacts,
                         const std::vector<Pose>& X = kPoses) {
  std::vector<double> lambda(static_cast<std::size_t>(p.rows()), 99.0);
  w.match(contacts, X);
  w.load(p, contacts, lambda);
  return lambda;
}

void store(WarmStart& w, ConstraintProblem p, const std::vector<Contact>& contacts, const std::vector<Pose>& X,
           const std::vector<double>& lambda) {
  p.finish();
  GrowingVector sigma;
  sigma.resize(p.rows());
  sigma.setZero();
  w.store(p, contacts, X, lambda, sigma, std::vector<std::uint8_t>(contacts.size(), 0), {});
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance = 1e-15) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "row " << i;
}

TEST(WarmStart, TheSameProblemGetsItsImpulsesBack) {
  const std::vector<Row> rows = {
      {BlockKind::joint, 1, 5}, {BlockKind::joint, 4, 3}, {BlockKind::soft, 7}, {BlockKind::limit, 9}};
  const std::vector<Contact> contacts = {contact(1, Vec3(0, 0, 0)),
                                         contact(2, Vec3(1, 0, 0), Vec3(1, 2, -2).normalized())};
  const ConstraintProblem p = make_problem(rows, contacts);
  std::vector<double> lambda = {1, -2, 3, -4, 5, 6, 7, -8, -9, 10, 0.1, -0.2, 1, 0.3, 0.2, 2};
  WarmStart w;
  expect_near(load(w, p, contacts), std::vector<double>(lambda.size(), 0.0));  // an empty cache is a cold start
  store(w, p, contacts, kPoses, lambda);
  expect_near(load(w, p, contacts), lambda);
  expect_near(load(w, p, contacts), lambda);  // loading does not consume
  w.clear();
  expect_near(load(w, p, contacts), std::vector<double>(lambda.size(), 0.0));
}

TEST(WarmStart, RowsThatComeAndGo) {
  WarmStart w;
  const ConstraintProblem before = make_problem(
      {{BlockKind::joint, 1, 2}, {BlockKind::soft, 3}, {BlockKind::limit, 10}, {BlockKind::limit, 12}}, {});
  store(w, before, {}, kPoses, std::vector<double>{1, 2, 3, 4, 5});
  // The joint stays, a soft row is new before the old one, limit 10 went and 11 came.
  const ConstraintProblem after = make_problem({{BlockKind::joint, 1, 2},
                                                {BlockKind::soft, 2},
                                                {BlockKind::soft, 3},
                                                {BlockKind::limit, 11},
                                                {BlockKind::limit, 12}},
                                               {});
  expect_near(load(w, after, {}), {1, 2, 0, 3, 0, 5});
  // The same id in another segment is another constraint.
  const ConstraintProblem other =
      make_problem({{BlockKind::joint, 3}, {BlockKind::soft, 10}, {BlockKind::limit, 1}}, {});
  expect_near(load(w, other, {}), {0, 0, 0});
}

TEST(WarmStart, ImpulsesAreClampedToTheNewBounds) {
  WarmStart w;
  ConstraintProblem p = make_problem({{BlockKind::soft, 1}, {BlockKind::soft, 2}, {BlockKind::limit, 3}}, {});
  store(w, p, {}, kPoses, std::vector<double>{5, -5, -1});
  p.upper[0] = 2;
  p.lower[1] = -3;
  expect_near(load(w, p, {}), {2, -3, 0});
}

TEST(WarmStart, ImpulsesScaleWithTheStep) {
  WarmStart w;
  const std::vector<Contact> contacts = {contact(1, Vec3::Zero())};
  const std::vector<Row> rows = {{BlockKind::joint, 1, 2}};
  store(w, make_problem(rows, contacts, 2e-3), contacts, kPoses, std::vector<double>{4, -6, 0.2, 0.4, 2});
  expect_near(load(w, make_problem(rows, contacts, 1e-3), contacts), {2, -3, 0.1, 0.2, 1});
  expect_near(load(w, make_problem(rows, contacts, 4e-3), contacts), {8, -12, 0.4, 0.8, 4});
}

// --- contacts ----------------------------------------------------------------------------------------

TEST(WarmStart, ATurnedContactFrameKeepsTheImpulseInTheWorld) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const Vec3 n = Vec3(testing::random_vector(3, rng)).normalized();
    const Vec3 turned = so3_exp(0.1 * Vec3(testing::random_vector(3, rng))) * n;
    const std::vector<Contact> before = {contact(1, Vec3::Zero(), n, 2.0)};
    const std::vector<Contact> after = {contact(1, Vec3::Zero(), turned, 2.0)};
    const Vec3 l(0.3, -0.2, 1.0);
    WarmStart w;
    store(w, make_problem({}, before), before, kPoses, std::vector<double>{l[0], l[1], l[2]});
    const std::vector<double> out = load(w, make_problem({}, after), after);
    const Vec3 world = contact_frame(n) * l;
    const Vec3 expected = contact_frame(turned).transpose() * world;
    ASSERT_LE(std::hypot(expected[0], expected[1]), 2.0 * expected[2]) << "the test wants it inside the cone";
    expect_near(out, {expected[0], expected[1], expected[2]}, 1e-14);
  }
}

TEST(WarmStart, TheImpulseIsProjectedOnTheNewCone) {
  WarmStart w;
  const std::vector<Contact> before = {contact(1, Vec3::Zero(), Vec3::UnitZ(), 1.0)};
  std::vector<Contact> after = before;
  const Vec3 l(0.8, 0, 1);
  store(w, make_problem({}, before), before, kPoses, std::vector<double>{l[0], l[1], l[2]});
  for (const double mu : {0.5, 0.1, 0.0}) {
    after[0].mu = mu;
    const std::vector<double> out = load(w, make_problem({}, after), after);
    const Vec3 expected = project_cone(l, mu);
    expect_near(out, {expected[0], expected[1], expected[2]}, 1e-15);
    EXPECT_LE(std::hypot(out[0], out[1]), mu * out[2] + 1e-15);
  }
}

TEST(WarmStart, VanishedAndNewContacts) {
  WarmStart w;
  const Contact a = contact(1, Vec3(0, 0, 0));
  const Contact b = contact(2, Vec3(1, 0, 0));
  const Contact c = contact(3, Vec3(2, 0, 0));
  const std::vector<Contact> before = {a, b};
  store(w, make_problem({}, before), before, kPoses, std::vector<double>{0, 0, 1, 0, 0, 2});
  const std::vector<Contact> after = {b, c};
  expect_near(load(w, make_problem({}, after), after), {0, 0, 2, 0, 0, 0});
}

TEST(WarmStart, TheNearestPointServesWithinATenthOfTheShape) {
  WarmStart w;
  const std::vector<Contact> before = {contact(1, Vec3(0, 0, 0)), contact(2, Vec3(0.1, 0, 0))};
  store(w, make_problem({}, before), before, kPoses, std::vector<double>{0, 0, 1, 0, 0, 2});
  const auto at = [&](const Vec3& p) {
    const std::vector<Contact> after = {contact(77, p)};
    return load(w, make_problem({}, after), after)[2];
  };
  EXPECT_NEAR(at(Vec3(0.015, 0, 0)), 1, 1e-15);
  EXPECT_NEAR(at(Vec3(0.085, 0.01, 0)), 2, 1e-15);
  EXPECT_EQ(at(Vec3(0.05, 0, 0)), 0);
  EXPECT_EQ(at(Vec3(0, 0.0201, 0)), 0);
  EXPECT_NEAR(at(Vec3(0, 0.0199, 0)), 1, 1e-15);
}

// Distances count in the body's frame: a point that moved along with its body is the same point.
TEST(WarmStart, PlacesAreThoseOnTheBody) {
  WarmStart w;
  const Vec3 local(0.2, -0.1, 0.4);
  const std::vector<Contact> before = {contact(1, kPoses[1] * local)};
  store(w, make_problem({}, before), before, kPoses, std::vector<double>{0, 0, 1});
  std::vector<Pose> X = kPoses;
  X[1] = {Vec3(5, 5, 5), so3_exp(Vec3(0, 3, 0))};
  const std::vector<Contact> with_body = {contact(9, X[1] * (local + Vec3(0.001, 0, 0)))};
  const std::vector<Contact> left_behind = {contact(9, before[0].p_W)};
  EXPECT_NEAR(load(w, make_problem({}, with_body), with_body, X)[2], 1, 1e-14);
  EXPECT_EQ(load(w, make_problem({}, left_behind), left_behind, X)[2], 0);
}

TEST(WarmStart, ContactsOfAnotherPairOrOfTheWorld) {
  WarmStart w;
  Contact world = contact(1, Vec3(0.3, 0, 0));
  world.body_b = -1;  // B is the world: places are measured on A
  world.geom_b = 6;
  const std::vector<Contact> before = {contact(1, Vec3::Zero()), world};
  store(w, make_problem({}, before), before, kPoses, std::vector<double>{0, 0, 1, 0, 0, 2});
  Contact stranger = contact(1, Vec3::Zero());
  stranger.geom_b = 7;
  world.key.lo = 8;
  const std::vector<Contact> after = {world, stranger};
  expect_near(load(w, make_problem({}, after), after), {0, 0, 2, 0, 0, 0});
}

// One stored impulse serves one contact: not two neighbours of a vanished point.
TEST(WarmStart, AnImpulseIsUsedOnce) {
  WarmStart w;
  const std::vector<Contact> before = {contact(1, Vec3::Zero())};
  store(w, make_problem({}, before), before, kPoses, std::vector<double>{0, 0, 1});
  const std::vector<Contact> twins = {contact(7, Vec3(0.001, 0, 0)), contact(8, Vec3(-0.001, 0, 0))};
  const std::vector<double> out = load(w, make_problem({}, twins), twins);
  EXPECT_NEAR(out[2] + out[5], 1, 1e-15);
}

// An exact key wins over a new neighbour that merely lies nearby, in whatever order the two are listed.
TEST(WarmStart, KeysComeBeforeNeighbours) {
  WarmStart w;
  const std::vector<Contact> before = {contact(5, Vec3::Zero())};
  store(w, make_problem({}, before), before, kPoses, std::vector<double>{0, 0, 1});
  const Contact known = contact(5, Vec3::Zero());
  const std::vector<Contact> later = {known, contact(7, Vec3(0.001, 0, 0))};
  expect_near(load(w, make_problem({}, later), later), {0, 0, 1, 0, 0, 0});
  const std::vector<Contact> earlier = {contact(3, Vec3(0.001, 0, 0)), known};
  expect_near(load(w, make_problem({}, earlier), earlier), {0, 0, 0, 0, 0, 1});
}

}  // namespace
}  // namespace sarrus::warm_start_test
