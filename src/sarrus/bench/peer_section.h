// The comparison with other engines (peers.h) as sections of the HTML report.
#pragma once

#include <string>
#include <vector>

#include "sarrus/bench/peers.h"
#include "sarrus/bench/report.h"

namespace sarrus {

// `command` made the numbers. Empty parts are left out.
std::vector<ReportSection> peer_sections(const PeerReport& report, const std::string& command);

}  // namespace sarrus
