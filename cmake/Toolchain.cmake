# How everything is compiled and linked: language, flags per build type, sanitizers, compiler cache, linker.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Contraction would make results depend on the instruction set.
# g++ 12 sees array bounds and overlaps broken in std::string where they are not.
add_compile_options(
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-march=x86-64-v2;-ffp-contract=off>")
add_compile_definitions(EIGEN_MPL2_ONLY EIGEN_MAX_ALIGN_BYTES=64)
add_link_options(-Wl,--as-needed)

if(TROUPE_SANITIZE)
  # Checks in unoptimised code take half the time to compile.
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TROUPE_SANITIZE};-fno-omit-frame-pointer>")
  add_link_options("-fsanitize=${TROUPE_SANITIZE}")
  if(TROUPE_SANITIZE MATCHES "thread")
    # With the compiler's own macro protobuf's headers lay out maps differently from the installed library; libstdc++ is told apart from it.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-U__SANITIZE_THREAD__;-D_GLIBCXX_TSAN=1;-DTROUPE_TSAN>")
  endif()
  if(TROUPE_SANITIZE MATCHES "undefined")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>")
  endif()
endif()

# Paths below the base directory are hashed relative, so that another checkout or build folder hits the cache too.
find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE AND "${CMAKE_CXX_COMPILER_LAUNCHER}" MATCHES "^(ccache)?$")
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${PROJECT_BINARY_DIR}" NORMALIZE build_is_inside)
  if(build_is_inside)
    set(cache_base "${PROJECT_SOURCE_DIR}")
  else()
    set(cache_base "${PROJECT_BINARY_DIR}")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_BASEDIR=${cache_base}" CCACHE_SLOPPINESS=pch_defines,time_macros
    "${TROUPE_CCACHE}")
endif()

find_program(TROUPE_MOLD mold)
if(TROUPE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(TROUPE_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES all-major)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  # CMake 3.25 does not know that nvcc has C++20 since CUDA 12.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  find_package(CUDAToolkit REQUIRED)
endif()
