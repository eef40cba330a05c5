# Bullet's collision library in double precision (Debian: libbullet-dev): BulletDouble::Collision.
# Its single-precision build exports the same names, so both must never be linked into one program.
find_path(BulletDouble_INCLUDE_DIR BulletCollision/NarrowPhaseCollision/btGjkEpa2.h PATH_SUFFIXES bullet)
find_library(BulletDouble_COLLISION BulletCollision-float64)
find_library(BulletDouble_MATH LinearMath-float64)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(BulletDouble REQUIRED_VARS BulletDouble_COLLISION BulletDouble_MATH
                                                             BulletDouble_INCLUDE_DIR)
mark_as_advanced(BulletDouble_INCLUDE_DIR BulletDouble_COLLISION BulletDouble_MATH)
if(BulletDouble_FOUND AND NOT TARGET BulletDouble::Collision)
  add_library(BulletDouble::Collision INTERFACE IMPORTED)
  set_target_properties(BulletDouble::Collision PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${BulletDouble_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS BT_USE_DOUBLE_PRECISION
    INTERFACE_LINK_LIBRARIES "${BulletDouble_COLLISION};${BulletDouble_MATH}")
endif()
