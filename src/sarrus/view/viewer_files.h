// The files of the viewer, which the build embeds (docs/viewer.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sarrus::view {

struct ViewerFile {
  std::string_view name;    // page.html, style.css, vendor.js, app.js, load.js, LICENSES.txt
  std::string_view gzip;    // its bytes, compressed
  std::string_view sha256;  // of its bytes, hexadecimal
};

std::span<const ViewerFile> viewer_files();
// By name, which must be one of those above.
const ViewerFile& viewer_file(std::string_view name);
// Its bytes.
std::string viewer_text(std::string_view name);

}  // namespace sarrus::view
