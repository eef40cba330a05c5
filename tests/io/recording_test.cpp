// Recordings are read back with the plain HDF5 C API and, where it is installed, with h5py.
#include "sarrus/recording/recording.h"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "io/shape_test_data.h"
#include "sarrus/files/hdf5_reader.h"
#include "sarrus/math/error.h"
#include "sarrus/math/so3.h"
#include "sarrus/model/builder.h"
#include "sarrus/model/topology.h"
#include "sarrus/recording/run_sink.h"

namespace sarrus::recording_test {
namespace {

namespace fs = std::filesystem;

constexpr int kSamples = 600;  // more than one batch

fs::path temporary(const std::string& name) {
  return fs::path(testing::TempDir()) / ("sarrus-" + std::to_string(::getpid()) + "-" + name);
}

// Two boxes hinged to each other and to the world on both ends (one loop), above a floor.
Model two_boxes() {
  ModelBuilder b("two boxes");
  b.add_floor();
  const int left = b.add_box_body("left", 1.0, {0.1, 0.05, 0.02}, {{-0.1, 0, 1}});
  const int right = b.add_box_body("größer", 2.0, {0.1, 0.05, 0.02}, {{0.1, 0, 1}});
  b.add_joint_at("a", JointType::revolute, kWorld, left, {-0.2, 0, 1});
  b.add_joint_at("b", JointType::revolute, left, right, {0, 0, 1});
  b.add_joint_at("c", JointType::revolute, kWorld, right, {0.2, 0, 1});
  return b.build();
}

State state_at(const Model& model, int i) {
  State s;
  s.time = 0.01 * i;
  for (int b = 0; b < model.body_count(); ++b) {
    s.X_WB.push_back({Vec3(i, b, 0.5), Quat(0.5, 0.5, -0.5, 0.5)});
    s.twist.push_back((Vec6() << 1, 2, 3, 4, 5, i).finished());
  }
  for (int d = 0; d < model.dof_count(); ++d) {
    s.q.push_back(10.0 * i + d);
    s.rate_lag.push_back(0.5 * i + d);
  }
  return s;
}

// Sample i has i % 3 contacts.
std::vector<Contact> contacts_at(int i) {
  std::vector<Contact> contacts(static_cast<std::size_t>(i % 3));
  for (Contact& c : contacts) {
    c.p_W = Vec3(i, 0, 0);
    c.gap = -1e-6 * i;
    c.geom_b = 1;
    c.body_b = 0;
    c.mu = 0.25 + i;
  }
  return contacts;
}

StepForces forces_at(const Model& model, int i) {
  StepForces f;
  for (int dof = 0; dof < model.dof_count(); ++dof) {
    f.joint_rates.push_back(i + 0.1 * dof);
    f.drive_efforts.push_back(i + 0.2 * dof);
    f.drive_targets.push_back(i + 0.3 * dof);
  }
  for (int joint = 0; joint < model.joint_count(); ++joint) {
    Vec6 reaction;
    reaction << i, joint, 1, 2, 3, i;
    f.joint_reactions.push_back(reaction);
    f.joint_openings.push_back({1e-9 * i + joint, 1e-10 * i + joint});
  }
  f.energy.drives = 2.0 * i;
  f.energy.friction = -0.5 * i;
  f.energy.unaccounted = 1e-9 * i;
  return f;
}

void write(const fs::path& file, const Model& model, int samples) {
  RunInfo info;
  info.scene = "two boxes";
  info.options.dt = 0.01;
  info.options.integrator = Integrator::semi_implicit;
  info.version = "9.9.9";
  RecordingWriter writer(file, model, info);
  writer.add_initial(state_at(model, 0), {1.0, 2.0}, forces_at(model, 0));
  for (int i = 1; i < samples; ++i) {
    StepReport report;
    report.status = StepStatus::accepted;
    report.iterations = i;
    report.joint_gap = 1e-9 * i;
    report.error = 1e-10 * i;
    const std::vector<Contact> contacts = contacts_at(i);
    StepForces forces = forces_at(model, i);
    forces.contact_impulses.assign(contacts.size(), Vec3(0, 0, 0.25));
    forces.contact_forces.assign(contacts.size(), Vec3(0, 0, 25));
    forces.contact_modes.assign(contacts.size(), ContactMode::sliding);
    writer.add(state_at(model, i), report, {1.0 * i, 2.0}, contacts, forces);
  }
  writer.end("ok", "");
  writer.close();
}

class Recording : public testing::Test {
 protected:
  Recording() : Recording(two_boxes(), kSamples) {}
  Recording(Model model, int samples) : model_(std::move(model)), samples_(samples) {}

  void SetUp() override {
    write(path_, model_, samples_);
    file_ = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(file_, 0);
  }
  void TearDown() override {
    if (file_ >= 0) H5Fclose(file_);
    fs::remove(path_);
  }

  std::vector<hsize_t> shape(const char* name) const {
    const hid_t dataset = H5Dopen2(file_, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    std::vector<hsize_t> dims(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    H5Sclose(space);
    H5Dclose(dataset);
    return dims;
  }

  std::vector<double> numbers(const char* name) const {
    std::size_t n = 1;
    for (const hsize_t d : shape(name)) n *= static_cast<std::size_t>(d);
    std::vector<double> values(n);
    const hid_t dataset = H5Dopen2(file_, name, H5P_DEFAULT);
    EXPECT_GE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
    H5Dclose(dataset);
    return values;
  }

  std::vector<std::string> strings(const char* name) const {
    std::vector<char*> texts(static_cast<std::size_t>(shape(name)[0]));
    const hid_t dataset = H5Dopen2(file_, name, H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), 0) << name;
    std::vector<std::string> result;
    for (char* text : texts) {
      result.emplace_back(text);
      H5free_memory(text);
    }
    H5Tclose(type);
    H5Dclose(dataset);
    return result;
  }

  std::string text_attribute(const char* object, const char* name) const {
    const hid_t a = H5Aopen_by_name(file_, object, name, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(a);
    char* text = nullptr;
    EXPECT_GE(H5Aread(a, type, static_cast<void*>(&text)), 0) << object << " " << name;
    const std::string result = text == nullptr ? "" : text;
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(a);
    return result;
  }

  Model model_;
  int samples_;
  fs::path path_ = temporary("recording.h5");
  hid_t file_ = -1;
};

using Extent = std::vector<hsize_t>;

TEST_F(Recording, HasTheDocumentedShapes) {
  const hsize_t T = kSamples;
  EXPECT_EQ(shape("/time"), (Extent{T}));
  EXPECT_EQ(shape("/bodies/position"), (Extent{T, 2, 3}));
  EXPECT_EQ(shape("/bodies/quaternion_wxyz"), (Extent{T, 2, 4}));
  EXPECT_EQ(shape("/bodies/angular_velocity"), (Extent{T, 2, 3}));
  EXPECT_EQ(shape("/bodies/names"), (Extent{2}));
  EXPECT_EQ(shape("/joints/coordinates"), (Extent{T, 3}));
  EXPECT_EQ(shape("/joints/coordinate_names"), (Extent{3}));
  EXPECT_EQ(shape("/geoms/size"), (Extent{3, 3}));
  EXPECT_EQ(shape("/geoms/parts/size"), (Extent{3, 3}));
  EXPECT_EQ(shape("/geoms/meshes/vertices"), (Extent{0, 3}));
  EXPECT_EQ(shape("/geoms/meshes/triangle_offset"), (Extent{1}));
  EXPECT_EQ(shape("/geoms/height_fields/spacing"), (Extent{0, 2}));
  EXPECT_EQ(shape("/contacts/offset"), (Extent{T + 1}));
  EXPECT_EQ(shape("/contacts/impulse_world"), (Extent{T, 3}));  // 0 + 1 + 2 contacts per three samples
  EXPECT_EQ(shape("/residuals/status"), (Extent{T}));
  EXPECT_EQ(shape("/energy/kinetic"), (Extent{T}));
}

TEST_F(Recording, KeepsEveryNumber) {
  const std::vector<double> time = numbers("/time");
  const std::vector<double> position = numbers("/bodies/position");
  const std::vector<double> quaternion = numbers("/bodies/quaternion_wxyz");
  const std::vector<double> angular = numbers("/bodies/angular_velocity");
  const std::vector<double> q = numbers("/joints/coordinates");
  const std::vector<double> status = numbers("/residuals/status");
  for (std::size_t i = 0; i < kSamples; ++i) {
    const State s = state_at(model_, static_cast<int>(i));
    ASSERT_EQ(time[i], s.time);
    ASSERT_EQ(position[6 * i], s.X_WB[0].p.x());
    ASSERT_EQ(position[6 * i + 4], s.X_WB[1].p.y());
    ASSERT_EQ(quaternion[8 * i], 0.5);
    ASSERT_EQ(quaternion[8 * i + 2], -0.5);
    ASSERT_EQ(angular[6 * i + 2], s.twist[0][5]);
    ASSERT_EQ(q[3 * i + 2], s.q[2]);
    ASSERT_EQ(status[i], i == 0 ? -1.0 : 1.0);
  }
}

TEST_F(Recording, KeepsRatesAndForces) {
  const hsize_t T = kSamples;
  EXPECT_EQ(shape("/joints/rates"), (Extent{T, 3}));
  EXPECT_EQ(shape("/joints/drive_efforts"), (Extent{T, 3}));
  EXPECT_EQ(shape("/joints/reaction_force"), (Extent{T, 3, 3}));
  EXPECT_EQ(shape("/joints/reaction_torque"), (Extent{T, 3, 3}));
  EXPECT_EQ(shape("/contacts/force_world"), shape("/contacts/impulse_world"));
  const std::vector<double> rates = numbers("/joints/rates");
  const std::vector<double> efforts = numbers("/joints/drive_efforts");
  const std::vector<double> force = numbers("/joints/reaction_force");
  const std::vector<double> torque = numbers("/joints/reaction_torque");
  for (std::size_t i = 0; i < kSamples; ++i) {
    const StepForces f = forces_at(model_, static_cast<int>(i));
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(rates[3 * i + k], f.joint_rates[k]);
      ASSERT_EQ(efforts[3 * i + k], f.drive_efforts[k]);
      for (std::size_t c = 0; c < 3; ++c) {
        ASSERT_EQ(force[9 * i + 3 * k + c], f.joint_reactions[k][static_cast<int>(c)]);
        ASSERT_EQ(torque[9 * i + 3 * k + c], f.joint_reactions[k][static_cast<int>(c) + 3]);
      }
    }
  }
  const std::vector<double> contact = numbers("/contacts/force_world");
  for (std::size_t i = 0; i < contact.size(); ++i) ASSERT_EQ(contact[i], i % 3 == 2 ? 25 : 0);
}

// What version 2 has beyond version 1, by sample.
TEST_F(Recording, KeepsOpeningsTargetsModesAndSums) {
  const hsize_t T = kSamples;
  EXPECT_EQ(shape("/joints/gap"), (Extent{T, 3}));
  EXPECT_EQ(shape("/joints/angle"), (Extent{T, 3}));
  EXPECT_EQ(shape("/joints/drive_targets"), (Extent{T, 3}));
  const std::vector<double> gap = numbers("/joints/gap");
  const std::vector<double> angle = numbers("/joints/angle");
  const std::vector<double> targets = numbers("/joints/drive_targets");
  const std::vector<double> error = numbers("/residuals/error");
  const std::vector<double> work_in = numbers("/energy/work_in");
  const std::vector<double> dissipated = numbers("/energy/dissipated");
  const std::vector<double> unaccounted = numbers("/energy/unaccounted");
  for (std::size_t i = 0; i < kSamples; ++i) {
    const StepForces f = forces_at(model_, static_cast<int>(i));
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(gap[3 * i + k], f.joint_openings[k].gap);
      ASSERT_EQ(angle[3 * i + k], f.joint_openings[k].angle);
      ASSERT_EQ(targets[3 * i + k], f.drive_targets[k]);
    }
    ASSERT_EQ(error[i], 1e-10 * static_cast<double>(i));
    ASSERT_EQ(work_in[i], f.energy.work_in());
    ASSERT_EQ(dissipated[i], f.energy.dissipated());
    ASSERT_EQ(unaccounted[i], f.energy.unaccounted);
  }
  for (const double mode : numbers("/contacts/mode")) ASSERT_EQ(mode, static_cast<double>(ContactMode::sliding));
  const std::vector<double> mu = numbers("/contacts/mu");
  const std::vector<double> offset = numbers("/contacts/offset");
  for (std::size_t i = 0; i < kSamples; ++i) {
    for (auto c = static_cast<std::size_t>(offset[i]); c < static_cast<std::size_t>(offset[i + 1]); ++c) {
      ASSERT_EQ(mu[c], 0.25 + static_cast<double>(i));
    }
  }
}

// A pendulum hangs and a box stands: the file has the weights, per sample, as the sink of a run writes them.
TEST(RecordedForces, OfThingsAtRestAreTheirWeights) {
  ModelBuilder b("rest");
  b.add_floor();
  b.add_box_body("box", 3, Vec3(0.1, 0.1, 0.1), {Vec3(2, 0, 0.1)});
  const int rod = b.add_box_body("rod", 2, Vec3(0.02, 0.02, 0.2), {Vec3(0, 0, 0.8)});
  b.add_joint_at("pivot", JointType::revolute, kWorld, rod, Vec3(0, 0, 1));
  Simulation sim(b.build(), {.dt = 1e-3, .tolerance = 1e-12});
  const fs::path path = temporary("rest.h5");
  RunSummary summary({"rest", 0.1, sim.options(), "1"}, sim.state(), energy(sim.model(), sim.state()));
  const std::unique_ptr<RunSink> sink = recording_sink(path.string(), 10);
  sink->begin(sim, summary.info());
  for (std::int64_t i = 1; i <= 100; ++i) {
    sim.step();
    const Energy now = energy(sim.model(), sim.state());
    sink->step({sim, now, i, i == 100});
  }
  summary.finish(sim.state());
  sink->finish(sim, summary);
  {
    const hdf5::Reader file(path, "");
    const std::vector<double> force = file.doubles("/joints/reaction_force", 11 * 3);
    const std::vector<double> torque = file.doubles("/joints/reaction_torque", 11 * 3);
    const std::vector<std::uint64_t> offset = file.ids("/contacts/offset", 12);
    const std::vector<int> body_b = file.ints("/contacts/body_b", hdf5::kAnySize);
    const std::vector<double> contact =
        file.doubles("/contacts/force_world", 3 * static_cast<std::int64_t>(body_b.size()));
    for (std::size_t s = 1; s < 11; ++s) {
      EXPECT_NEAR(force[3 * s + 2], 2 * 9.81, 1e-8);
      EXPECT_NEAR(Vec3(torque[3 * s], torque[3 * s + 1], torque[3 * s + 2]).norm(), 0, 1e-8);
      double sum = 0;
      for (auto c = static_cast<std::size_t>(offset[s]); c < offset[s + 1]; ++c) {
        sum += (body_b[c] == 0 ? 1 : -1) * contact[3 * c + 2];
      }
      EXPECT_NEAR(sum, 3 * 9.81, 1e-6) << s;
    }
  }
  fs::remove(path);
}

TEST_F(Recording, IsReadBackAsStatesAndImpulses) {
  const RecordedMotion motion = load_recording(path_, model_);
  EXPECT_EQ(motion.dt, 0.01);
  ASSERT_EQ(motion.states.size(), static_cast<std::size_t>(kSamples));
  for (int i = 0; i < kSamples; ++i) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_EQ(motion.states[k].hash(), state_at(model_, i).hash()) << i;
    ASSERT_EQ(motion.contacts[k].size(), i == 0 ? 0u : contacts_at(i).size()) << i;
    for (const RecordedContact& c : motion.contacts[k]) {
      EXPECT_EQ(c.geom_b, 1);
      EXPECT_EQ(c.impulse_W, Vec3(0, 0, 0.25));
    }
  }
}

TEST_F(Recording, OfAnotherModelIsRefusedByName) {
  ModelBuilder b("one");
  b.add_body("only", 1.0, Mat3::Identity(), {});
  try {
    load_recording(path_, b.build());
    FAIL() << "read a recording of two bodies for a model of one";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("/bodies/position"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos) << error.what();
  }
}

TEST_F(Recording, OffsetsDelimitTheContactsOfEachSample) {
  const std::vector<double> offset = numbers("/contacts/offset");
  const std::vector<double> point = numbers("/contacts/point");
  const std::vector<double> gap = numbers("/contacts/gap");
  ASSERT_EQ(offset[0], 0);
  for (int i = 0; i < kSamples; ++i) {
    const auto k = static_cast<std::size_t>(i);
    ASSERT_EQ(offset[k + 1] - offset[k], i % 3) << i;
    for (auto c = static_cast<std::size_t>(offset[k]); c < static_cast<std::size_t>(offset[k + 1]); ++c) {
      ASSERT_EQ(point[3 * c], i);
      ASSERT_EQ(gap[c], -1e-6 * i);
    }
  }
}

TEST_F(Recording, DescribesItself) {
  EXPECT_EQ(text_attribute("/", "format"), "sarrus-recording");
  EXPECT_EQ(text_attribute("/", "scene"), "two boxes");
  EXPECT_EQ(text_attribute("/", "sarrus_version"), "9.9.9");
  EXPECT_EQ(text_attribute("/", "integrator"), "semi-implicit");
  EXPECT_EQ(text_attribute("/time", "units"), "s");
  EXPECT_EQ(text_attribute("/contacts/impulse_world", "units"), "N s");
  EXPECT_FALSE(text_attribute("/residuals/status", "description").empty());
  EXPECT_EQ(numbers("/joints/closes_loop"), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(text_attribute("/", "end_status"), "ok");
  EXPECT_EQ(shape("/bodies/inertia"), (Extent{2, 6}));
  EXPECT_EQ(numbers("/bodies/inertia")[0], model_.bodies()[0].inertia_B(0, 0));
  // The one loop, through the world.
  const Loop loop = shortest_loop(model_, 1);
  EXPECT_EQ(numbers("/loops/offset"), (std::vector<double>{0, static_cast<double>(loop.joints.size())}));
  EXPECT_EQ(numbers("/loops/joints"), std::vector<double>(loop.joints.begin(), loop.joints.end()));
  EXPECT_EQ(numbers("/loops/bodies"), std::vector<double>(loop.bodies.begin(), loop.bodies.end()));
  EXPECT_EQ(numbers("/scalars/joint"), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(numbers("/joints/first_coordinate"), (std::vector<double>{0, 1, 2}));
}

TEST_F(Recording, OpensInH5pyWithoutOurCode) {
  if (std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0) GTEST_SKIP() << "h5py is not installed";
  const fs::path script = temporary("check.py");
  std::FILE* out = std::fopen(script.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs(R"(
import sys, h5py
with h5py.File(sys.argv[1], "r") as f:
    assert f.attrs["format"] == "sarrus-recording" and f.attrs["version"] == 2, dict(f.attrs)
    assert list(f["bodies/names"].asstr()) == ["left", "gr\u00f6\u00dfer"]
    assert list(f["geoms/kind"].asstr()) == ["plane", "box", "box"]
    assert list(f["joints/type"].asstr()) == ["revolute"] * 3
    assert f["bodies/position"][599, 1, 0] == 599 and f["bodies/position"].compression in ("gzip", None)
    assert (f["contacts/offset"][-1],) + (3,) == f["contacts/point"].shape == f["contacts/force_world"].shape
    assert f["joints/reaction_force"][599, 2].tolist() == [599, 2, 1]
    assert f["joints/rates"].shape == f["joints/drive_efforts"].shape == f["joints/coordinates"].shape
    def check(name, node):
        if isinstance(node, h5py.Dataset):
            assert isinstance(node.attrs["units"], str) and node.attrs["description"], name
            node[()]
    f.visititems(check)
)",
             out);
  std::fclose(out);
  EXPECT_EQ(std::system(("/usr/bin/python3 " + script.string() + " " + path_.string()).c_str()), 0);
  fs::remove(script);
}

// Every kind of shape, two of them sharing a mesh.
Model all_shapes() {
  ModelBuilder b("shapes");
  std::mt19937 random(3);
  const sarrus::Shape hull = test::random_hull(random, 40);
  const sarrus::Shape mesh = test::l_mesh();
  b.add_floor();
  b.add_geom(kWorld, test::random_terrain(random, 4, 3), {Vec3(1, 2, 3)});
  b.add_solid("ball", 1, sarrus::Shape::sphere(0.5), {});
  b.add_solid("can", 1, sarrus::Shape::cylinder(0.1, 0.2), {});
  b.add_solid("egg", 1, sarrus::Shape::ellipsoid({0.1, 0.2, 0.3}), {});
  b.add_solid("stone", 1, hull, {});
  b.add_solid("l", 1, mesh, {});
  const Pose turned = {Vec3(0, 0, 2), so3_exp(Vec3(0, 0, 1))};
  b.add_geom(4, sarrus::Shape::compound({{sarrus::Shape::box({1, 2, 3}), turned}, {mesh, {}}, {hull, turned}}), turned,
             0, "group");
  return b.build();
}

class ShapeRecording : public Recording {
 protected:
  ShapeRecording() : Recording(all_shapes(), 3) {}
};

TEST_F(ShapeRecording, HasAPartForEverythingThatIsDrawn) {
  const std::vector<std::string> kinds = {"plane",     "height_field", "sphere", "cylinder",
                                          "ellipsoid", "hull",         "mesh",   "compound"};
  EXPECT_EQ(strings("/geoms/kind"), kinds);
  const std::vector<std::string> parts = {"plane", "height_field", "sphere", "cylinder", "ellipsoid",
                                          "hull",  "mesh",         "box",    "mesh",     "hull"};
  EXPECT_EQ(strings("/geoms/parts/kind"), parts);
  EXPECT_EQ(numbers("/geoms/parts/geom"), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 7, 7}));
  EXPECT_EQ(numbers("/geoms/parts/mesh"), (std::vector<double>{-1, -1, -1, -1, -1, 0, 1, -1, 1, 0}));
  EXPECT_EQ(numbers("/geoms/parts/height_field"), (std::vector<double>{-1, 0, -1, -1, -1, -1, -1, -1, -1, -1}));
  const std::vector<double> size = numbers("/geoms/parts/size");
  EXPECT_EQ(Vec3(size[9], size[10], size[11]), Vec3(0.1, 0.2, 0));
  EXPECT_EQ(Vec3(size[12], size[13], size[14]), Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(Vec3(size[21], size[22], size[23]), Vec3(1, 2, 3));
  // Poses of children are in the body frame, like all others.
  const std::vector<double> p = numbers("/geoms/parts/position");
  EXPECT_EQ(Vec3(p[21], p[22], p[23]), Vec3(0, 0, 4));
  const std::vector<double> q = numbers("/geoms/parts/quaternion_wxyz");
  EXPECT_NEAR(q[28], std::cos(1.0), 1e-15);
  EXPECT_NEAR(q[31], std::sin(1.0), 1e-15);
  EXPECT_EQ(numbers("/geoms/parts/body"), (std::vector<double>{-1, -1, 0, 1, 2, 3, 4, 4, 4, 4}));
  EXPECT_EQ(numbers("/geoms/parts/colour"), std::vector<double>(40, -1.0));
}

// Shapes that are only seen come after the geoms, with their colours.
TEST(RecordedParts, ThatAreOnlySeenHaveTheirColours) {
  ModelBuilder b("seen");
  const int box = b.add_box_body("box", 1, Vec3(1, 1, 1), {});
  b.add_visual(
      {.name = "cover", .body = box, .shape = sarrus::Shape::sphere(2), .X_BG = {}, .colour = {0.25, 0.5, 1, 0.75}});
  const Model model = b.build();
  const fs::path path = temporary("seen.h5");
  RecordingWriter(path, model, {"seen", 1, complete_options({}, model), "1"}).close();
  {
    const hdf5::Reader file(path, "");
    EXPECT_EQ(file.ints("/geoms/parts/geom", 2), (std::vector<int>{0, -1}));
    EXPECT_EQ(file.ints("/geoms/parts/body", 2), (std::vector<int>{0, 0}));
    EXPECT_EQ(file.doubles("/geoms/parts/colour", 8), (std::vector<double>{-1, -1, -1, -1, 0.25, 0.5, 1, 0.75}));
    EXPECT_EQ(file.strings("/geoms/parts/kind", 2), (std::vector<std::string>{"box", "sphere"}));
    EXPECT_EQ(file.string_attribute("scene"), "seen");
    EXPECT_EQ(file.int_attribute("version"), kRecordingVersion);
  }
  fs::remove(path);
}

TEST_F(ShapeRecording, StoresEachSurfaceOnce) {
  const ConvexHull& hull = *model_.geoms()[5].shape.hull;
  const TriangleMesh& mesh = *model_.geoms()[6].shape.mesh;
  const auto nv = static_cast<double>(hull.vertex_count());
  const auto nt = static_cast<double>(hull.triangles().size());
  EXPECT_EQ(numbers("/geoms/meshes/vertex_offset"), (std::vector<double>{0, nv, nv + 12}));
  EXPECT_EQ(numbers("/geoms/meshes/triangle_offset"), (std::vector<double>{0, nt, nt + 20}));
  const std::vector<double> v = numbers("/geoms/meshes/vertices");
  const std::vector<double> t = numbers("/geoms/meshes/triangles");
  const auto first_v = static_cast<std::size_t>(3 * hull.vertex_count());
  const std::size_t first_t = 3 * hull.triangles().size();
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(Vec3(v[first_v + 3 * i], v[first_v + 3 * i + 1], v[first_v + 3 * i + 2]), mesh.vertices()[i]);
  }
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(t[first_t + i], mesh.triangles()[i / 3][i % 3]);
  for (std::size_t i = 0; i < first_t; ++i) EXPECT_LT(t[i], nv);
}

TEST_F(ShapeRecording, KeepsTerrain) {
  const HeightField& field = *model_.geoms()[1].shape.height_field;
  EXPECT_EQ(numbers("/geoms/height_fields/columns"), (std::vector<double>{4}));
  EXPECT_EQ(numbers("/geoms/height_fields/rows"), (std::vector<double>{3}));
  EXPECT_EQ(numbers("/geoms/height_fields/spacing"), (std::vector<double>{0.1, 0.15}));
  EXPECT_EQ(numbers("/geoms/height_fields/offset"), (std::vector<double>{0, 12}));
  EXPECT_EQ(numbers("/geoms/height_fields/heights"),
            std::vector<double>(field.heights().begin(), field.heights().end()));
}

TEST(RecordingWriter, HandlesModelsWithoutJoints) {
  ModelBuilder b("one");
  b.add_sphere_body("ball", 1.0, 0.1, {});
  const fs::path path = temporary("no-joints.h5");
  write(path, b.build(), 5);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t dataset = H5Dopen2(file, "/joints/coordinates", H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  hsize_t dims[2] = {9, 9};
  EXPECT_EQ(H5Sget_simple_extent_dims(space, dims, nullptr), 2);
  EXPECT_EQ(dims[0], 5u);
  EXPECT_EQ(dims[1], 0u);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  fs::remove(path);
}

TEST(RecordingWriter, EqualRunsGiveEqualFiles) {
  const fs::path a = temporary("a.h5");
  const fs::path b = temporary("b.h5");
  write(a, two_boxes(), 20);
  write(b, two_boxes(), 20);
  EXPECT_EQ(std::system(("cmp " + a.string() + " " + b.string()).c_str()), 0);
  fs::remove(a);
  fs::remove(b);
}

TEST(RecordingWriter, NamesTheFileThatCannotBeCreated) {
  const fs::path path = temporary("no-such-folder") / "out.h5";
  try {
    RecordingWriter writer(path, two_boxes(), {});
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("out.h5"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace sarrus::recording_test
