// The page: the skeleton of the viewer with its parts in their places (docs/viewer.md).
#pragma once

#include <string>
#include <string_view>

namespace sarrus::view {

// A page that opens by itself from a file, without network: style, scripts and motions are in it. `motion` and
// `compare` are payloads of motion_payload(); an empty one is left out. Nothing runs in it but the scripts of the
// viewer: the policy in its head names their SHA-256.
std::string written_page(std::string_view title, std::string_view motion, std::string_view compare = {});

// The same for a server that gives /style.css, /vendor.js and /app.js and sends the policy as a header.
std::string served_page(std::string_view title);

// Text as content of an element: HTML's own characters as entities; control and bidirectional characters, and what is
// no UTF-8, as U+FFFD; cut after 200 characters.
std::string escape_title(std::string_view text);

}  // namespace sarrus::view
