// What a peer program hands back: the motion of a scene as another engine computed it, and what its steps cost.
//
// The file (a "number file", also used for the friction problems given to Siconos) holds doubles bit for bit:
//   line 1   sarrus-numbers 1
//   line 2   the header, a JSON object on one line
//   then     n doubles, little endian, and 8 bytes: the 64-bit FNV-1a hash of everything before them
// n is the member "numbers" of the header. The other members of a trajectory's header: engine, version, setting
// ("default" or "stiff"), setting_text (what that means), scene, status ("ok" or why there is no motion), dt, bodies,
// samples, steps. Its numbers: the time of each sample; by sample and body 13 numbers p (m, centre of mass), q
// (w, x, y, z), v (m/s), omega (rad/s), world axes; the seconds of each step, of the engine's step call alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sarrus {

struct NumberFile {
  std::string header;  // JSON text on one line, without "numbers"
  std::vector<double> numbers;
};

// Throws InputError if the file cannot be written.
void save_numbers(const std::filesystem::path& path, const NumberFile& file);
// Throws InputError naming the file if it is missing, cut short, changed or not of this format.
NumberFile load_numbers(const std::filesystem::path& path);

inline constexpr int kNumbersPerBody = 13;

struct Trajectory {
  std::string engine;
  std::string version;
  std::string setting = "default";
  std::string setting_text;
  std::string scene;
  std::string status = "ok";
  double dt = 0;  // s
  int bodies = 0;
  std::vector<double> time;          // s, by sample
  std::vector<double> motion;        // by sample and body, see above
  std::vector<double> step_seconds;  // by step

  const double* body(std::size_t sample, int i) const {
    return motion.data() + (sample * static_cast<std::size_t>(bodies) + static_cast<std::size_t>(i)) * kNumbersPerBody;
  }
};

void save_trajectory(const std::filesystem::path& path, const Trajectory& trajectory);
// Throws InputError as load_numbers() does, and if the sizes in the header do not fit the numbers.
Trajectory load_trajectory(const std::filesystem::path& path);

}  // namespace sarrus
