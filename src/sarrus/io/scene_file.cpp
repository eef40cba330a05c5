#include "sarrus/io/scene_file.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "sarrus/io/atomic_file.h"
#include "sarrus/io/scene_json.h"
#include "sarrus/io/scene_loader.h"
#include "sarrus/io/scene_save.h"
#include "sarrus/math/error.h"

namespace sarrus {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{256} << 20;

// Puts the file in front of a message of the reader or of finish_model, which may quote any text of the file:
// escaping keeps it on one line.
InputError in_file(const std::string& source_name, const InputError& error) {
  constexpr std::size_t kMaxMessage = 4000;
  const std::string what = error.what();
  const std::string& element = error.element();
  const std::string message = element.empty() ? what : what.substr(element.size() + 2);
  const std::string place = element.empty() ? source_name : source_name + ": " + element;
  return InputError(scene::printable(place, kMaxMessage), scene::printable(message, kMaxMessage));
}

std::string read_text(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) throw InputError(file.string(), "the file does not exist; check the path");
  if (fs::is_directory(status)) throw InputError(file.string(), "is a directory; give the path of a scene file");
  if (!fs::is_regular_file(status)) throw InputError(file.string(), "is not a regular file; give a scene file");
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > kMaxBytes) {
    throw InputError(file.string(), fmt::format("has {} MB, more than the limit of {} MB; split the scene", size >> 20,
                                                kMaxBytes >> 20));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(error ? 0 : static_cast<std::size_t>(size), '\0');
  if (error || !stream.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    throw InputError(file.string(), "cannot read the file; check its permissions");
  }
  return text;
}

}  // namespace

Model parse_scene(std::string_view json_text, const std::string& source_name, const fs::path& folder) {
  try {
    return finish_model(scene::SceneLoader(folder).load(scene::parse_strict_json(json_text)));
  } catch (const InputError& error) {
    throw in_file(source_name, error);
  }
}

Model load_scene(const fs::path& file) { return parse_scene(read_text(file), file.string(), file.parent_path()); }

std::string scene_to_json(const Model& model) { return scene::print_json(scene::document_of(model)); }

void save_scene(const Model& model, const fs::path& file) {
  try {
    const std::string text = scene_to_json(model);
    if (text.size() > kMaxBytes) {
      throw InputError("model", fmt::format("its scene file would have {} MB, more than the {} MB that can be loaded; "
                                            "simplify its meshes",
                                            text.size() >> 20, kMaxBytes >> 20));
    }
    write_file_atomically(file, text);
  } catch (const InputError& error) {
    if (error.element() == file.string()) throw;
    throw in_file(file.string(), error);
  }
}

}  // namespace sarrus
