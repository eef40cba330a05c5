// The closed surface of triangles that EPA expands (convex_epa.h). Fixed storage. Private to EPA.
//
// A new point x replaces the faces it sees, a connected patch, by triangles from the rim of the patch to x. Where
// round-off tears the patch into pieces, only the face it starts from is replaced: the surface stays closed, and that
// is all that EPA's proof needs.
#pragma once

#include "sarrus/collision/convex_pair.h"

namespace sarrus {

class ExpandingPolytope {
 public:
  static constexpr int kMaxPoints = 124;
  static constexpr int kMaxFaces = 2 * kMaxPoints;

  struct Face {
    Vec3 m;             // outward, unit; zero if the face is thin
    double dist;        // m.x on the plane
    short corner[3];    // counter-clockwise from outside
    short beyond[3];    // face across the edge from corner k to corner k+1
    short its_edge[3];  // the same edge as that face numbers it
    bool gone;
    bool thin;    // no area, no normal
    bool closed;  // nothing lies beyond
  };

  // Heights up to `round_off` above a face are zero. Points closer than `apart` are the same: the triangles between
  // them would have no normals.
  ExpandingPolytope(double round_off, double apart) : round_off_(round_off), apart_(apart) {}

  // False if they are flat.
  bool make_tetrahedron(const CorePoint* four);

  int point_count() const { return points_; }
  const CorePoint* points() const { return point_; }
  // Faces are 0 ... face_count() - 1; those that are gone have the key infinity.
  int face_count() const { return faces_; }
  const Face& face(int f) const { return face_[f]; }
  // Distance of a face from the origin; infinity if it is gone or thin (thin faces are as near as their neighbours).
  double key(int f) const { return key_[f]; }
  // The face with the smallest key.
  int nearest_face() const;
  bool has_corner(const Vec3& w) const;

  // Replaces what x sees, starting from face f, which it must see. False if there is no room.
  bool insert(int f, const CorePoint& x);
  // Nothing if it is there already or if no face has it higher than `gain` above it.
  void insert_anywhere(const CorePoint& x, double gain);
  // Nothing lies beyond the face, only its normal is poor: from now on it counts with the distance of its points.
  void close(int f);

 private:
  // An edge as the face beyond it numbers it.
  struct Rim {
    short face;
    short edge;
  };

  int add_face(int i, int j, int k);
  void link(int f, int e, int g, int h);
  bool sees(const Face& f, const Vec3& w) const { return f.thin || f.m.dot(w) - f.dist > round_off_; }
  void look_across(int f, int edge, const Vec3& w);
  bool rim_is_closed() const;

  double round_off_;
  double apart_;
  int points_ = 0;
  int faces_ = 0;  // slots in use, with holes
  int holes_ = 0;
  int gones_ = 0;
  int rims_ = 0;
  double key_[kMaxFaces];
  short hole_[kMaxFaces];
  short gone_[kMaxFaces];  // faces that the newest point sees
  Rim rim_[kMaxFaces];     // and the edges around them
  CorePoint point_[kMaxPoints];
  Face face_[kMaxFaces];
};

}  // namespace sarrus
