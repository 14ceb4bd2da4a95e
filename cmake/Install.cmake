# What is installed: the libraries, their headers under troupe/, a CMake package (find_package(Troupe), Troupe::troupe and one target per folder)
# and a pkg-config file. What consumers compile with is what the libraries were compiled with.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One name for all of it.
add_library(troupe_library INTERFACE)
add_library(Troupe::troupe ALIAS troupe_library)
set_target_properties(troupe_library PROPERTIES EXPORT_NAME troupe)
target_link_libraries(troupe_library INTERFACE troupe_actors)

target_compile_features(troupe_messaging PUBLIC cxx_std_20)
target_compile_definitions(troupe_messaging INTERFACE EIGEN_MPL2_ONLY EIGEN_MAX_ALIGN_BYTES=64)

set(folders messaging ops devices config actors)
foreach(folder IN LISTS folders)
  set_target_properties(troupe_${folder} PROPERTIES EXPORT_NAME ${folder})
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/troupe"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
endforeach()
set_target_properties(troupe_wire PROPERTIES EXPORT_NAME wire)
install(DIRECTORY "${TROUPE_GENERATED}/troupe/wire" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/troupe" FILES_MATCHING PATTERN "*.pb.h")

list(TRANSFORM folders PREPEND troupe_ OUTPUT_VARIABLE libraries)
install(TARGETS troupe_library troupe_wire ${libraries} EXPORT TroupeTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Troupe")
install(EXPORT TroupeTargets NAMESPACE Troupe:: DESTINATION "${package}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/TroupeConfig.cmake.in" "${PROJECT_BINARY_DIR}/TroupeConfig.cmake"
  INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TroupeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/TroupeConfig.cmake"
  "${PROJECT_BINARY_DIR}/TroupeConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Dependencies.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake"
  DESTINATION "${package}")

configure_file("${PROJECT_SOURCE_DIR}/cmake/troupe.pc.in" "${PROJECT_BINARY_DIR}/troupe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/troupe.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
