// Pages of runs and recordings.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "sarrus/recording/run_sink.h"
#include "sarrus/view/motion.h"
#include "sarrus/view/recorded_run.h"

namespace sarrus::view {

// Collects a run, and writes its page at the end. `rate`: frames per second, 0: as many as fit. Throws InputError
// naming the option and the path if it cannot be written.
std::unique_ptr<RunSink> html_sink(const std::string& path, double rate = 0);

// A payload for a page. Throws InputError naming `element` if it is larger than a page holds: `sarrus view` shows it.
inline constexpr std::size_t kMaxPagePayload = std::size_t{64} << 20;
std::string page_payload(const std::string& element, const Scene& scene, const RunFacts& facts, Motion motion,
                         std::size_t most = kMaxPagePayload);

}  // namespace sarrus::view
