// What fuzzing asks of each reader of files: any bytes give a value that can be used, or one InputError. Whoever runs a
// target (fuzz/fuzz.cpp, fuzz/libfuzzer.cpp, tests/io) gives it bytes and gets false for a broken promise; crashes,
// loops and reads out of bounds are found by the sanitizers and by the time.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sarrus/files/hdf5_reader.h"
#include "sarrus/files/whole_file.h"
#include "sarrus/math/error.h"
#include "sarrus/math/hash.h"
#include "sarrus/problem_files/fclib_file.h"
#include "sarrus/problem_files/problem_file.h"
#include "sarrus/recording/checkpoint.h"
#include "sarrus/recording/recording.h"
#include "sarrus/robot_files/load.h"
#include "sarrus/scene_files/mesh_file.h"
#include "sarrus/scene_files/scene_file.h"
#include "sarrus/scenes/random_worlds.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/solvers/registry.h"
#include "sarrus/step/simulation.h"
#include "sarrus/view/motion_payload.h"
#include "sarrus/view/recorded_run.h"

namespace sarrus::fuzz {

namespace fs = std::filesystem;

// What a target found; empty: all is well.
using Finding = std::string;

// The bytes as a file of this process, in memory where the system has such a folder.
class InputFile {
 public:
  explicit InputFile(std::string_view bytes, const char* ending = "h5")
      : path_(folder() / fmt::format("sarrus-fuzz-{}.{}", ::getpid(), ending)) {
    const int file = ::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    while (file >= 0 && !bytes.empty()) {
      const ssize_t n = ::write(file, bytes.data(), bytes.size());
      if (n <= 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    if (file >= 0) ::close(file);
  }
  ~InputFile() { ::unlink(path_.c_str()); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  const fs::path& path() const { return path_; }

  static const fs::path& folder() {
    std::error_code ignored;
    static const fs::path found =
        fs::is_directory("/dev/shm", ignored) ? fs::path("/dev/shm") : fs::temp_directory_path(ignored);
    return found;
  }

 private:
  fs::path path_;
};

// Runs f; an InputError must say something, on one line.
template <class F>
Finding expect_value_or_error(F f) {
  try {
    return f();
  } catch (const InputError& e) {
    const std::string_view text = e.what();
    if (text.empty()) return "an error without a message";
    if (text.find('\n') != std::string_view::npos) return fmt::format("a message of several lines: {}", text);
    return {};
  }
}

// Whether each input is asked all there is to ask: where findings are read again.
inline bool ask_all = false;

// One input in n, always the same ones: for what takes far longer than reading.
inline bool chosen(std::string_view bytes, std::uint64_t n) {
  if (ask_all) return true;
  Hash64 hash;
  hash.bytes(bytes.data(), bytes.size());
  return hash.value() % n == 0;
}

// A few steps, if the model is small: what moves is finite, and what fails says why.
inline Finding step(Simulation& sim, int steps) {
  for (int i = 0; i < steps; ++i) {
    const StepReport& r = sim.step();
    if (!sim.state().finite()) return "a state that is not finite";
    if (r.status == StepStatus::failed) return r.message.empty() ? "a step failed without a message" : "";
  }
  return {};
}

inline Finding scene(std::string_view bytes) {
  return expect_value_or_error([&]() -> Finding {
    const Model model = parse_scene(bytes, "fuzz", "/nonexistent");
    if (chosen(bytes, 4)) {
      const std::string text = scene_to_json(model);
      if (scene_to_json(parse_scene(text, "again", "/nonexistent")) != text)
        return "a scene that changes when it is saved";
    }
    if (model.body_count() > 8 || model.geoms().size() > 16 || !chosen(bytes, 8)) return {};
    Simulation sim(model);
    return step(sim, 2);
  });
}

// A robot's file of any format; also what it becomes as a scene of ours.
inline Finding robot_file(std::string_view bytes, const char* ending) {
  const InputFile file(bytes, ending);
  return expect_value_or_error([&]() -> Finding {
    ImportOptions options;
    options.accept = {"all"};
    const Model model = load(file.path(), options);
    if (model.body_count() > 8 || model.geoms().size() > 16 || !chosen(bytes, 8)) return {};
    const std::string text = scene_to_json(model);
    if (scene_to_json(parse_scene(text, "again", "/nonexistent")) != text)
      return "a model that changes when it is saved as a scene";
    Simulation sim(model);
    return step(sim, 2);
  });
}
inline Finding mjcf(std::string_view bytes) { return robot_file(bytes, "xml"); }
inline Finding urdf(std::string_view bytes) { return robot_file(bytes, "urdf"); }
inline Finding sdf(std::string_view bytes) { return robot_file(bytes, "sdf"); }

// The first byte tells the format.
inline Finding mesh(std::string_view bytes) {
  constexpr const char* kEndings[] = {"stl", "obj", "dae"};
  if (bytes.empty()) return {};
  const InputFile file(bytes.substr(1), kEndings[static_cast<unsigned char>(bytes[0]) % 3]);
  return expect_value_or_error([&]() -> Finding {
    const MeshFile m = load_mesh_file(file.path());
    for (const Vec3& v : m.vertices) {
      if (!v.allFinite()) return "a vertex that is not finite";
    }
    for (const auto& t : m.triangles) {
      for (const int i : t) {
        if (i < 0 || i >= static_cast<int>(m.vertices.size())) return "a triangle without its vertex";
      }
    }
    return {};
  });
}

inline Finding solve(const StoredProblem& stored) {
  if (stored.problem.rows() > 60 || stored.problem.velocity_size() > 200) return {};
  const std::unique_ptr<Solver> solver = make_solver("cascade", {});
  std::vector<double> lambda(static_cast<std::size_t>(stored.problem.rows()), 0.0);
  const SolveReport report = solver->solve(stored.problem, 1e-8, lambda);
  JudgeWorkspace workspace;
  const bool finite = judge(stored.problem, lambda, workspace).finite;
  return report.status == SolveStatus::converged && !finite ? "a solution that is not finite" : "";
}

inline Finding problem(std::string_view bytes) {
  const InputFile file(bytes);
  return expect_value_or_error([&] {
    const StoredProblem stored = load_problem(file.path());
    return chosen(bytes, 16) ? solve(stored) : Finding();
  });
}

inline Finding fclib(std::string_view bytes) {
  const InputFile file(bytes);
  return expect_value_or_error([&]() -> Finding {
    const FclibProblem p = load_fclib(file.path());
    if (!chosen(bytes, 16)) return {};
    const hdf5::File copy("copy", hdf5::create_image());
    hdf5::Reader(file.path(), "make it again").copy_to(copy, "/solution");
    return solve(p.stored);
  });
}

inline const Model& box_model() {
  static const Model model = make_scene("box_on_plane");
  return model;
}

// As a motion of a model, and as what a page shows.
inline Finding recording(std::string_view bytes) {
  const InputFile file(bytes);
  const Finding shown = expect_value_or_error([&]() -> Finding {
    const view::RecordedRun run = view::load_recorded_run(file.path());
    if (view::motion_payload(run.scene, run.facts, run.motion).empty()) return "a motion without content";
    return {};
  });
  if (!shown.empty()) return shown;
  return expect_value_or_error([&]() -> Finding {
    for (const State& s : load_recording(file.path(), box_model()).states) {
      if (!s.finite()) return "a recorded state that is not finite";
    }
    return {};
  });
}

// The bytes as a file; and as what a file with the right hash would hold.
inline Finding checkpoint(std::string_view bytes) {
  const InputFile file(bytes, "checkpoint");
  static Simulation sim(box_model());
  const Finding whole = expect_value_or_error([&]() -> Finding {
    sim.restore(load_checkpoint(file.path()));
    return step(sim, 1);
  });
  if (!whole.empty()) return whole;
  return expect_value_or_error([&]() -> Finding {
    sim.restore(Snapshot(std::string(bytes)));
    return step(sim, 1);
  });
}

}  // namespace sarrus::fuzz
