#include "sarrus/io/recording_reader.h"

#include <fmt/format.h>

#include <cmath>

#include "sarrus/io/hdf5_reader.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

Vec3 vector3(const std::vector<double>& values, std::size_t i) {
  return {values[3 * i], values[3 * i + 1], values[3 * i + 2]};
}

std::vector<State> read_states(const hdf5::Reader& file, const Model& model) {
  const std::vector<double> time = file.doubles("/time", hdf5::kAnySize);
  const auto samples = static_cast<std::int64_t>(time.size());
  const auto n = static_cast<std::size_t>(model.body_count());
  const auto nq = static_cast<std::size_t>(model.dof_count());
  const auto sizes = [&](std::size_t per_sample) { return samples * static_cast<std::int64_t>(per_sample); };
  const std::vector<double> position = file.doubles("/bodies/position", sizes(3 * n));
  const std::vector<double> quaternion = file.doubles("/bodies/quaternion_wxyz", sizes(4 * n));
  const std::vector<double> linear = file.doubles("/bodies/linear_velocity", sizes(3 * n));
  const std::vector<double> angular = file.doubles("/bodies/angular_velocity", sizes(3 * n));
  const std::vector<double> coordinates =
      nq == 0 ? std::vector<double>{} : file.doubles("/joints/coordinates", sizes(nq));
  std::vector<State> states(time.size());
  for (std::size_t s = 0; s < states.size(); ++s) {
    State& state = states[s];
    state.time = time[s];
    for (std::size_t b = s * n; b < (s + 1) * n; ++b) {
      const double* q = quaternion.data() + 4 * b;
      const Quat rotation(q[0], q[1], q[2], q[3]);
      if (std::abs(rotation.squaredNorm() - 1) > 1e-6) {
        file.fail("/bodies/quaternion_wxyz", fmt::format("sample {} is not of unit length", s));
      }
      state.X_WB.push_back({vector3(position, b), rotation});
      state.twist.push_back(spatial(vector3(linear, b), vector3(angular, b)));
    }
    for (std::size_t k = s * nq; k < (s + 1) * nq; ++k) state.q.push_back(coordinates[k]);
  }
  return states;
}

void read_contacts(const hdf5::Reader& file, RecordedMotion& recording) {
  const auto samples = recording.states.size();
  const std::vector<std::uint64_t> offset = file.ids("/contacts/offset", static_cast<std::int64_t>(samples) + 1);
  const std::vector<int> geom_a = file.ints("/contacts/geom_a", hdf5::kAnySize);
  const auto total = static_cast<std::int64_t>(geom_a.size());
  const std::vector<int> geom_b = file.ints("/contacts/geom_b", total);
  const std::vector<double> impulse = file.doubles("/contacts/impulse_world", 3 * total);
  recording.contacts.resize(samples);
  for (std::size_t s = 0; s < samples; ++s) {
    if (offset[s] > offset[s + 1] || offset[s + 1] > static_cast<std::uint64_t>(total)) {
      file.fail("/contacts/offset", fmt::format("the rows of sample {} do not exist", s));
    }
    for (auto k = static_cast<std::size_t>(offset[s]); k < offset[s + 1]; ++k) {
      recording.contacts[s].push_back({geom_a[k], geom_b[k], vector3(impulse, k)});
    }
  }
}

}  // namespace

RecordedMotion load_recording(const std::filesystem::path& path, const Model& model) {
  const hdf5::Reader file(path, "record the scene again with sarrus run --record");
  for (const char* name : {"/time", "/bodies/position", "/contacts/offset"}) {
    if (!file.has(name)) file.fail(name, "is missing: this is no recording of sarrus");
  }
  RecordedMotion recording;
  recording.dt = file.double_attribute("dt");
  if (!(recording.dt > 0)) file.fail("attribute 'dt'", fmt::format("is {}", recording.dt));
  recording.states = read_states(file, model);
  read_contacts(file, recording);
  return recording;
}

}  // namespace sarrus
