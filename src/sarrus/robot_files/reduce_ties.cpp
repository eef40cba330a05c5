// What ties coordinates of the graph to each other, and which pairs touch.
#include <algorithm>
#include <set>

#include "sarrus/math/error.h"
#include "sarrus/robot_files/reduction.h"

namespace sarrus::robot {

const Reduction::DofRef* Reduction::dof_of(const CoordinateRef& ref) const {
  const std::vector<DofRef>& dofs = dof_[at(ref.joint)];
  return static_cast<std::size_t>(ref.k) < dofs.size() ? &dofs[at(ref.k)] : nullptr;
}

void Reduction::add_couplings() {
  Names names(findings_);
  for (const Coupling& c : g_.couplings) {
    ++findings_.count("coupling").read;
    const DofRef* a = dof_of(c.a);
    const DofRef* b = dof_of(c.b);
    if (a == nullptr || b == nullptr) {
      ++findings_.count("coupling").ignored;
      findings_.add(ImportSeverity::warning, "coupling-of-fixed", c.place.text(),
                    fmt::format("coupling {}", in_quotes(c.name)), "couples a joint that is left out", "");
      continue;
    }
    ++findings_.count("coupling").kept;
    sarrus::Coupling coupling;
    coupling.name =
        names.unique("coupling", c.name.empty() ? fmt::format("coupling{}", d_.couplings.size()) : c.name, c.place);
    coupling.dof_a = a->dof;
    coupling.dof_b = b->dof;
    // In coordinates that are mirrored: f_a q_a = sum of c_k (f_b q_b)^k.
    coupling.offset = coupling.ratio = 0;
    double sign = a->flip;
    for (std::size_t k = 0; k < c.c.size(); ++k, sign *= b->flip) {
      if (k > 4 && c.c[k] != 0) {
        throw InputError(fmt::format("{}: coupling {}", c.place.text(), in_quotes(c.name)),
                         "is a polynomial of degree 5 or more; give one of degree 4");
      }
      if (k == 0) coupling.offset = sign * c.c[k];
      if (k == 1) coupling.ratio = sign * c.c[k];
      if (k >= 2 && k <= 4) coupling.higher[k - 2] = sign * c.c[k];
    }
    coupling.compliance = c.compliance;
    d_.couplings.push_back(std::move(coupling));
  }
}

// Sums of coordinates that no single one carries.
void Reduction::add_combinations() {
  Names names(findings_);
  for (const Combination& c : g_.combinations) {
    const std::string element = fmt::format("tendon {}", in_quotes(c.name));
    sarrus::Combination out;
    out.offset = c.offset;
    out.law = c.acts.dof;
    std::set<int> bodies;
    bool complete = true;
    for (const Combination::Term& term : c.terms) {
      const DofRef* q = dof_of(term.q);
      complete = complete && q != nullptr;
      if (q == nullptr) continue;
      out.terms.push_back({q->dof, term.c * q->flip});
      const Joint& j = g_.joints[at(term.q.joint)];
      for (const int l : {j.base, j.follower}) {
        if (body_of(l) != kWorld) bodies.insert(body_of(l));
      }
    }
    ImportCount& count = findings_.count("tendon");
    const bool chain = std::any_of(c.terms.begin(), c.terms.end(), [this](const Combination::Term& term) {
      return has_ball(g_.joints[at(term.q.joint)]);
    });
    const auto drop = [&](const std::string& kind, const std::string& what, const std::string& remedy) {
      findings_.add(ImportSeverity::dropped, kind, c.place.text(), element, what, remedy);
    };
    if (!complete || chain) {
      ++count.ignored;
      drop("tendon", "moves a joint that is left out or has no single coordinate", "give it hinges and slides");
      continue;
    }
    if (static_cast<int>(bodies.size()) > kMaxCombinationBodies) {
      ++count.ignored;
      drop("tendon", fmt::format("moves {} bodies, and at most {} are possible", bodies.size(), kMaxCombinationBodies),
           "tie some of its joints to each other by an equality, or split it into several tendons");
      continue;
    }
    if (out.law.armature != 0) {
      drop("tendon-armature", fmt::format("has an armature of {:g}", out.law.armature),
           "give its joints armatures, c^2 of it to one of coefficient c");
      out.law.armature = 0;
    }
    ++count.kept;
    out.name =
        names.unique("tendon", c.name.empty() ? fmt::format("tendon{}", d_.combinations.size()) : c.name, c.place);
    if (!c.acts.drive_name.empty() && out.law.drive.mode != DriveMode::none) {
      out.law.drive.name = drive_names_.unique("drive", c.acts.drive_name, c.place);
      findings_.report().drives[c.acts.drive_name] = out.name;
    }
    d_.combinations.push_back(std::move(out));
  }
}

void Reduction::exclude(int a, int b) {
  if (a == b) return;
  const BodyPair pair = {std::min(a, b), std::max(a, b)};
  if (excluded_.emplace(pair.a, pair.b).second) d_.excludes.push_back(pair);
}

void Reduction::add_pairs() {
  for (const LinkPair& p : g_.excludes) {
    ++findings_.count("exclude").read;
    const int a = body_of(p.a);
    const int b = body_of(p.b);
    if (a == b) {
      ++findings_.count("exclude").merged;
      continue;
    }
    ++findings_.count("exclude").kept;
    for (const int l : {p.a, p.b}) {
      if (l == kWorld || group_[at(l)] == kWorld || groups_[at(group_[at(l)])].links.size() == 1) continue;
      findings_.add(ImportSeverity::warning, "exclude-of-merged", p.place.text(), label(link(l)),
                    "is one body with others: the pair that must not collide is that of the whole body", "");
      break;
    }
    exclude(a, b);
  }
  for (const ContactPair& p : g_.contact_pairs) {
    ImportCount& count = findings_.count("contact pair");
    ++count.read;
    const auto a = geom_of_.find({p.a.link, p.a.shape});
    const auto b = geom_of_.find({p.b.link, p.b.shape});
    if (a == geom_of_.end() || b == geom_of_.end() || body_of(p.a.link) == body_of(p.b.link)) {
      ++count.ignored;
      findings_.add(ImportSeverity::warning, "pair-within-body", p.place.text(),
                    fmt::format("pair {}", in_quotes(p.name)), "is of two shapes of one body, or of the world", "");
      continue;
    }
    if (!paired_.emplace(std::min(a->second, b->second), std::max(a->second, b->second)).second) {
      ++count.merged;
      continue;
    }
    ++count.kept;
    sarrus::ContactPair pair;
    pair.a = a->second;
    pair.b = b->second;
    pair.mu = p.mu;
    pair.margin = p.margin;
    pair.compliance = p.compliance;
    d_.contact_pairs.push_back(pair);
  }
}

}  // namespace sarrus::robot
