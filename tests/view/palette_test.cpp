// Page, strip and report have the same colours: those of viewer/src/theme.ts and of files/picture.h.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "sarrus/files/picture.h"
#include "sarrus/recording/svg_strip.h"
#include "sarrus/scenes/scenes.h"
#include "sarrus/step/simulation.h"

namespace sarrus::palette_test {
namespace {

std::string theme() {
  std::ifstream file(SARRUS_SOURCE_DIR "/viewer/src/theme.ts");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class Colours>
std::string list(const Colours& colours) {
  std::string out = "[";
  for (const char* c : colours) out += (out.size() > 1 ? ", '" : "'") + std::string(c) + "'";
  return out + "]";
}

TEST(Palette, IsThatOfThePage) {
  const std::string page = theme();
  ASSERT_FALSE(page.empty());
  for (const std::string& wanted :
       {"limbs = " + list(picture::kLimbs), "light: " + list(picture::kLines), "dark: " + list(picture::kLinesOnBlack),
        std::string("hub: '") + picture::kHub, std::string("shaft: '") + picture::kShaft,
        std::string("disc = '") + picture::kDisc, std::string("ring = '") + picture::kRing,
        std::string("sticking: '") + picture::kContact, std::string("accent = '") + picture::kAccent}) {
    EXPECT_NE(page.find(wanted), std::string::npos) << wanted;
  }
}

TEST(Palette, MixesAndEscapes) {
  EXPECT_EQ(picture::hex(0, 0.5, 1), "#0080ff");
  EXPECT_EQ(picture::tint("#204060", 0), "#204060");
  EXPECT_EQ(picture::tint("#204060", 1), "#ffffff");
  EXPECT_EQ(picture::shade("#204060", 0.5), "#102030");
  EXPECT_EQ(escape_xml("<a b=\"c\">&'\x01\n"), "&lt;a b=&quot;c&quot;&gt;&amp;&apos; \n");
}

std::string strip(const std::string& scene) {
  const Model model = make_scene(scene);
  SvgStrip strip(model, 0, 1);
  const Simulation sim(model);
  strip.observe(sim.state(), {}, {});
  strip.finish(sim.state());
  return strip.to_svg(scene, "");
}

std::string fill(const char* colour) { return "fill=\"" + picture::tint(colour, 0.55) + "\""; }

// A limb of the walker has one hue, its hub none; the bars of a four-bar alone are told apart.
TEST(Palette, TheStripColoursLimbs) {
  const std::string walker = strip("jansen_walker");
  for (const char* limb : picture::kLimbs) EXPECT_NE(walker.find(fill(limb)), std::string::npos) << limb;
  EXPECT_NE(walker.find(fill(picture::kHub)), std::string::npos);
  const std::string fourbar = strip("fourbar_free");
  for (std::size_t i = 0; i < picture::kLimbs.size(); ++i) {
    EXPECT_EQ(fourbar.find(fill(picture::kLimbs[i])) != std::string::npos, i < 4) << i;
  }
}

}  // namespace
}  // namespace sarrus::palette_test
