// Box plots: well-formed, every failure shown, nothing drawn out of the picture.
#include "sarrus/bench/box_plot.h"

#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <limits>
#include <string>
#include <vector>

#include "sarrus/bench/plot_frame.h"

namespace sarrus::box_plot_test {
namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

BoxPlot plot(int categories, int series) {
  BoxPlot p;
  p.title = "time & <systems>";
  p.y = {"time [us]", Scale::logarithmic, 0, 0};
  for (int k = 0; k < categories; ++k) p.categories.push_back("a_long_system_name_" + std::to_string(k));
  for (int s = 0; s < series; ++s) {
    BoxSeries b;
    b.name = "solver <" + std::to_string(s) + ">";
    b.look = s;
    for (int k = 0; k < categories; ++k) {
      Box box;
      for (int i = 1; i <= 20; ++i) box.values.push_back(i * (s + 1));
      b.boxes.push_back(box);
    }
    p.series.push_back(b);
  }
  return p;
}

void expect_inside(const tinyxml2::XMLElement& e, double width, double height) {
  for (const char* key : {"x", "y"}) {
    if (std::string_view(e.Name()) == "svg" || e.Attribute(key) == nullptr) continue;
    const double v = e.DoubleAttribute(key);
    EXPECT_GE(v, 0) << e.Name();
    EXPECT_LE(v, key[0] == 'x' ? width : height) << e.Name();
  }
  for (const auto* c = e.FirstChildElement(); c != nullptr; c = c->NextSiblingElement()) {
    expect_inside(*c, width, height);
  }
}

// Well-formed, and everything within its width and height.
void expect_sound(const std::string& svg) {
  tinyxml2::XMLDocument document;
  ASSERT_EQ(document.Parse(svg.c_str()), tinyxml2::XML_SUCCESS) << document.ErrorStr();
  const tinyxml2::XMLElement& root = *document.RootElement();
  EXPECT_STREQ(root.Name(), "svg");
  expect_inside(root, root.DoubleAttribute("width"), root.DoubleAttribute("height"));
}

TEST(BoxPlot, IsWellFormedAndInsideItsPicture) {
  for (const int series : {1, 6, 26}) {
    const std::string svg = to_svg(plot(13, series));
    EXPECT_EQ(count(svg, "<title>"), 13 * series);
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    expect_sound(svg);
  }
}

TEST(BoxPlot, ShowsFailuresAndWhatTheAxisCannot) {
  BoxPlot p = plot(2, 1);
  EXPECT_EQ(to_svg(p).find("failed"), std::string::npos);
  p.series[0].boxes[0].failed = 3;
  p.series[0].boxes[1].values[4] = std::numeric_limits<double>::infinity();
  p.series[0].boxes[1].values[5] = 0;
  const std::string svg = to_svg(p);
  EXPECT_NE(svg.find("3/23 failed"), std::string::npos);
  EXPECT_NE(svg.find("2/20 failed"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  p.series[0].boxes[1].values.clear();
  p.series[0].boxes[1].failed = 20;
  EXPECT_NE(to_svg(p).find("20/20 failed"), std::string::npos);
}

// Inside a page the style sheet is there once and holds in pictures only.
TEST(BoxPlot, InlinePicturesShareOneStyleSheet) {
  EXPECT_EQ(to_inline_svg(plot(2, 2)).find("<style"), std::string::npos);
  EXPECT_EQ(to_inline_svg(Plot()).find("<style"), std::string::npos);
  EXPECT_EQ(count(to_svg(plot(2, 2)), "<style"), 1);
  const std::string css = plot_style();
  EXPECT_EQ(count(css, "{") - 1, count(css, "svg.sp"));  // every rule; the media rule is none
}

TEST(PlotLook, ThirtyTwoSolversAreToldApart) {
  std::vector<std::string> marks, lines;
  for (int look = 0; look < 32; ++look) {
    std::string mark;
    draw_mark(look, 5, 5, 2, mark);
    for (const std::string& m : marks) ASSERT_NE(m, mark) << look;
    marks.push_back(mark);
    for (const std::string& l : lines) ASSERT_NE(l, line_style(look, false)) << look;
    lines.push_back(line_style(look, false));
  }
}

TEST(PlotLook, LegendOfItsOwnHasEveryEntry) {
  std::vector<LegendEntry> entries;
  for (int i = 0; i < 26; ++i) entries.push_back({"solver " + std::to_string(i), i});
  const std::string svg = legend_svg(entries, 600);
  EXPECT_EQ(count(svg, "<text"), 26);
  EXPECT_NE(svg.find("width=\"600\""), std::string::npos);
  expect_sound(svg);
}

}  // namespace
}  // namespace sarrus::box_plot_test
