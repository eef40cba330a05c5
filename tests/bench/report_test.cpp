// The HTML report: well-formed, complete, self-contained; what is not there is not drawn.
#include "sarrus/bench/report.h"

#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <set>
#include <stdexcept>
#include <string>

#include "bench/fake_result.h"
#include "sarrus/bench/peer_section.h"
#include "sarrus/bench/report_data.h"
#include "sarrus/bench/report_table.h"

namespace sarrus::report_test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

// Attributes that would fetch something, and captions.
void walk(const tinyxml2::XMLElement& e, int& figures, int& captions) {
  static const std::set<std::string_view> kFetching = {"link", "img",   "iframe", "object", "embed", "image",
                                                       "use",  "audio", "video",  "source", "base",  "form"};
  const std::string_view name = e.Name();
  EXPECT_EQ(kFetching.count(name), 0u) << name;
  for (const auto* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    const std::string_view key = a->Name();
    const std::string_view value = a->Value();
    EXPECT_FALSE(key == "src" || key == "srcset" || key == "xlink:href") << key;
    if (key == "href") {
      EXPECT_EQ(value.substr(0, 1), "#") << value;
    }
  }
  figures += name == "figure";
  captions += name == "figcaption";
  for (const auto* c = e.FirstChildElement(); c != nullptr; c = c->NextSiblingElement()) walk(*c, figures, captions);
}

void expect_sound(const std::string& html) {
  ASSERT_EQ(html.substr(0, 15), "<!DOCTYPE html>");
  tinyxml2::XMLDocument document;
  ASSERT_EQ(document.Parse(html.c_str()), tinyxml2::XML_SUCCESS) << document.ErrorStr();
  const tinyxml2::XMLElement& root = *document.RootElement();
  EXPECT_STREQ(root.Name(), "html");
  int figures = 0, captions = 0;
  walk(root, figures, captions);
  EXPECT_EQ(figures, captions);
  EXPECT_EQ(count(html, "Made by <code>"), figures + 1);  // and the foot of the page
  EXPECT_FALSE(has(html, "http"));
  EXPECT_FALSE(has(html, "url("));
  EXPECT_FALSE(has(html, "@import"));
  EXPECT_FALSE(has(html, "nan"));
}

BenchResult full_result() {
  BenchResult r = fake_result();
  RunRecord run;
  run.solver = "cascade";
  run.steps = 12;
  run.planned_steps = 100;
  run.message = "gap of joint \"<knee>\"";
  r.runs.push_back(run);
  r.curves.push_back({0, 0, {1, 2, 4}, {1e-1, 1e-4, 1e-12}});
  for (const int bodies : {10, 100, 1000, 10000}) {
    for (const int threads : {1, 2}) {
      ScalingRecord s;
      s.family = "chain";
      s.bodies = bodies;
      s.threads = threads;
      s.steps = 10;
      s.step_median = 1e-6 * std::pow(bodies, 1.25) / threads;
      s.solve_median = 0.5 * s.step_median;
      s.bytes = 1e4 * bodies;
      r.scaling.push_back(s);
    }
  }
  return r;
}

TEST(Report, IsWellFormedAndLoadsNothing) {
  expect_sound(html_report(full_result()));
  expect_sound(html_report(fake_result(1, 1)));
  expect_sound(html_report(BenchResult()));
}

TEST(Report, SectionsFollowTheData) {
  const std::string full = html_report(full_result());
  const std::string solves = html_report(fake_result());
  for (const char* title : {"Systems and samples", "Solvers", "Why solves failed", "Performance profiles",
                            "Accuracy against time", "Spread over the systems"}) {
    EXPECT_TRUE(has(full, std::string(". ") + title + "</h2>")) << title;
    EXPECT_TRUE(has(solves, std::string(". ") + title + "</h2>")) << title;
  }
  for (const char* title : {"Convergence", "Whole simulations", "Scaling"}) {
    EXPECT_TRUE(has(full, std::string(". ") + title + "</h2>")) << title;
    EXPECT_FALSE(has(solves, std::string(". ") + title + "</h2>")) << title;
  }
  EXPECT_EQ(count(html_report(BenchResult()), "<h2>"), 0);
}

TEST(Report, EveryFailureHasAReason) {
  const BenchResult result = fake_result();
  const ReportData data(result);
  ASSERT_EQ(data.settings.size(), 4u);
  EXPECT_EQ(data.setting_text(data.settings[0]), "tolerance 1e-9, cold start");
  for (const Setting& s : data.settings) {
    for (const SolverSummary& m : s.summaries) {
      int reasons = 0;
      for (const int n : m.reasons) reasons += n;
      EXPECT_EQ(reasons + m.solved, m.total);
    }
  }
  const SolverSummary& convex = data.settings[0].summaries[1];
  EXPECT_EQ(convex.solved, 20);
  EXPECT_EQ(convex.solved_own_law, 40);
  EXPECT_EQ(convex.success, 20);
  EXPECT_EQ(convex.reasons[static_cast<std::size_t>(Reason::other_law)], 20);
  EXPECT_EQ(data.settings[0].summaries[2].reasons[static_cast<std::size_t>(Reason::refused)], 40);
  const std::string html = html_report(result);
  EXPECT_TRUE(has(html, "needs compliance: R = 0 in &lt;row&gt; &quot;3&quot;"));
  EXPECT_TRUE(has(html, "40 / 40"));
  EXPECT_TRUE(has(html, "<b>other law</b> (80 solves)"));
  EXPECT_TRUE(has(html, "Not drawn, since they succeeded nowhere: picky."));
}

TEST(Report, HeadlineComesFromTheData) {
  EXPECT_TRUE(has(html_report(fake_result()), "At tolerance 1e-9, cold start, <b>cascade</b> solved 40 of 40 samples"));
  EXPECT_TRUE(has(html_report(full_result()), "Of 1 whole simulation 1 stopped early."));
  EXPECT_TRUE(has(html_report(full_result()), "gap of joint &quot;&lt;knee&gt;&quot;"));
}

// Columns of what is optional to measure are there if it was.
TEST(Report, InstructionsAndAssemblyAreOptional) {
  BenchResult r = fake_result(1, 4);
  EXPECT_FALSE(has(html_report(r), ">instructions "));
  for (SolveRecord& s : r.solves) s.instructions = 5e5;
  for (SampleInfo& s : r.samples) s.seconds_assembly = 12.5e-6;
  EXPECT_TRUE(has(html_report(r), ">instructions <small>[1000]</small>"));
  EXPECT_TRUE(has(html_report(r), ">12.5</td>"));
}

TEST(Report, ScalingShowsFittedExponents) {
  const std::string html = html_report(full_result());
  EXPECT_TRUE(has(html, "1.25 ± 0.00"));
  EXPECT_TRUE(has(html, "1.00 ± 0.00"));  // memory
  EXPECT_TRUE(has(html, "Time per step grows like bodies<sup>1.25</sup>"));
}

TEST(Report, ScalingPointsThatWereNotRunAreSaid) {
  BenchResult r;
  r.command = "sarrus bench scaling";
  ScalingRecord s;
  s.family = "pile";
  s.bodies = 10;
  s.steps = 5;
  s.step_median = 1e-3;
  r.scaling.push_back(s);
  s.bodies = 1000;
  s.steps = 0;
  s.step_median = 0;
  s.message = "out of <memory>";
  r.scaling.push_back(s);
  const std::string html = html_report(r);
  expect_sound(html);
  EXPECT_TRUE(has(html, "Not run: pile of 1000 bodies, 1 thread (out of &lt;memory&gt;)"));
  EXPECT_FALSE(has(html, "memory [MB]"));
}

TEST(Report, SummariesOfOneSolver) {
  BenchResult r = fake_result(1, 4);
  for (SolveRecord& s : r.solves) s.seconds = s.solver == 2 ? 0 : s.solver == 0 ? 2e-5 : 1e-5;
  const ReportData data(r);
  // The convex solver solves samples 2 and 3, twice as fast there.
  EXPECT_NEAR(data.settings[0].summaries[0].slowdown, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(data.settings[0].summaries[1].slowdown, 1, 1e-12);
  EXPECT_TRUE(std::isnan(data.settings[0].summaries[2].slowdown));
  EXPECT_EQ(data.settings[0].summaries[0].time_median, 2e-5);
  EXPECT_EQ(data.ranking, (std::vector<int>{0, 1, 2}));
  const CostTable costs = data.costs(data.settings[0], Cost::accuracy, kEveryCategory);
  ASSERT_EQ(costs.cost.size(), 4u);
  EXPECT_TRUE(std::isinf(costs.cost[0][1]));  // beyond the paper's criterion
  EXPECT_EQ(data.costs(data.settings[0], Cost::time, 0).cost.size(), 1u);
}

TEST(Report, OtherAuthorsSectionsComeLast) {
  Table table("Peers", {{"engine", "", ""}, {"gap", "m", "largest"}});
  table.row({cell_text("a < b"), cell_number(0.5)});
  EXPECT_THROW(table.row({cell_text("short")}), std::invalid_argument);
  const std::string html = html_report(fake_result(), {{"Peers & others", table.html("Gap.", "sarrus bench peers")}});
  expect_sound(html);
  EXPECT_GT(html.find(". Peers &amp; others</h2>"), html.find(". Spread over the systems</h2>"));
  EXPECT_TRUE(has(html, "a &lt; b"));
}

TEST(Report, PeersAreSectionsOfTheirOwn) {
  PeerReport peers;
  peers.scenes.resize(3);
  peers.scenes[0] = {.engine = "sarrus",
                     .version = "0",
                     .setting = "default",
                     .setting_text = "a < b",
                     .scene = "ring",
                     .status = "ok"};
  peers.scenes[0].gap = 0;
  peers.scenes[0].us_per_step = 10;
  peers.scenes[1] = peers.scenes[0];
  peers.scenes[1].engine = "other";
  peers.scenes[1].gap = 1e-3;
  peers.scenes[2] = peers.scenes[1];
  peers.scenes[2].setting = "stiff";
  peers.scenes[2].status = "died with signal 11 <core>";
  peers.scenes[2].gap = kNotMeasured;
  for (const char* solver : {"cascade", "siconos NSGS"}) {
    for (const char* problem : {"A/1", "A/2"}) {
      FclibRun r;
      r.solver = solver;
      r.problem = problem;
      r.status = "ok";
      r.success = std::string(problem) == "A/1";
      r.error = r.success ? 1e-9 : 1e-3;
      r.seconds = 1e-3;
      peers.fclib.push_back(r);
    }
  }
  BenchResult frame;
  frame.kind = "peers";
  frame.command = "sarrus bench peers";
  const std::string html = html_report(frame, peer_sections(peers, frame.command));
  expect_sound(html);
  EXPECT_TRUE(has(html, "Other engines"));
  EXPECT_TRUE(has(html, "died with signal 11 &lt;core&gt;"));
  EXPECT_TRUE(has(html, "1 / 2"));
  EXPECT_TRUE(peer_sections({}, "").empty());
}

TEST(ReportTable, NumbersAsPeopleReadThem) {
  EXPECT_EQ(number_text(1234.6), "1235");
  EXPECT_EQ(number_text(12.345), "12.3");
  EXPECT_EQ(number_text(9.996), "10.0");
  EXPECT_EQ(number_text(0.012345), "0.0123");
  EXPECT_EQ(number_text(9), "9");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1.2345e-7), "1.23e-07");
  EXPECT_EQ(number_text(std::nan("")), "–");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "∞");
  EXPECT_EQ(power_text(1e-9), "1e-9");
  EXPECT_EQ(power_text(1e-12), "1e-12");
  EXPECT_EQ(cell_share(3, 4).key, 0.75);
  EXPECT_EQ(cell_share(0, 0).html, "–");
}

// Many points do not make a large page: pictures are thinned.
TEST(Report, SizeGrowsLittleWithTheSamples) {
  const std::size_t small = html_report(fake_result(1, 200)).size();
  EXPECT_LT(html_report(fake_result(1, 2000)).size(), 2 * small);
}

}  // namespace
}  // namespace sarrus::report_test
