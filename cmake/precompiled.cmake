# Headers that nearly every file includes, parsed once for all of them. The standard library alone is some 100 000 lines
# for each file; a compiler that has them ready needs a third less time. Files include what they use all the same: the
# preset clang, which ./dev lint builds, has no precompiled headers and finds what is missing.
option(STARLING_PCH "Parse the headers that nearly every file includes only once" OFF)

set(standard_headers
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional>
  <future> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <sstream> <string> <string_view>
  <system_error> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# starling_header_set(NAME HEADERS … [DEPS …] [DEFINITIONS …]): headers for starling_precompiled, compiled with the flags
# of DEPS. Files with other flags must not use them: GCC crashes on some that are optimised otherwise than their set.
function(starling_header_set name)
  if(NOT STARLING_PCH)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "HEADERS;DEPS;DEFINITIONS" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing: the headers are what is compiled here.\n")
  add_library(starling_headers_${name} OBJECT ${source})
  target_link_libraries(starling_headers_${name} PRIVATE fmt::fmt starling_warnings ${arg_DEPS})
  target_precompile_headers(starling_headers_${name} PRIVATE ${standard_headers} ${arg_HEADERS})
  target_compile_definitions(starling_headers_${name} PRIVATE ${arg_DEFINITIONS})
endfunction()

# starling_precompiled(TARGET [SET]): compiles TARGET with the headers of a set, or with the standard library's.
function(starling_precompiled target)
  list(APPEND ARGN standard)
  list(GET ARGN 0 chosen)
  if(STARLING_PCH AND NOT chosen STREQUAL "none")
    target_precompile_headers(${target} REUSE_FROM starling_headers_${chosen})
    # In precompiled headers GCC 12 forgets that the standard library is a system header, and warns of its own inlining of
    # strings. The presets without precompiled headers keep these warnings.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
  endif()
endfunction()

starling_header_set(standard)
