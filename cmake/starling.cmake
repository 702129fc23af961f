# Functions for the kinds of target in this tree. A folder is a static library; a test folder is a doctest program.

include(cmake/precompiled.cmake)
include(cmake/unity.cmake)

# starling_library(NAME [SOURCES …] [DEPS …] [PRIVATE_DEPS …] [PRECOMPILED set])
# Without SOURCES it has every .cpp of its folder: so it is in folders that grow by a file with each kind of model,
# optimizer or encoding.
# NAME is the folder with '/' as '_'. DEPS are what its headers need, PRIVATE_DEPS what only its .cpp files see.
# PRECOMPILED is the set of precompiled headers that it is compiled with: standard, torch, qt, qt_core, or none.
function(starling_library name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  endif()
  add_library(starling_${name} STATIC ${arg_SOURCES})
  add_library(starling::${name} ALIAS starling_${name})
  target_include_directories(starling_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(starling_${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS} starling_warnings)
  starling_precompiled(starling_${name} ${arg_PRECOMPILED})
  starling_unity_groups(starling_${name})
endfunction()

# Like starling_library, for folders whose headers have Qt's signals. PRECOMPILED must be said: qt, or qt_core without Qt6::Widgets.
function(starling_gui_library name)
  starling_library(${name} ${ARGN})
  set_target_properties(starling_${name} PROPERTIES AUTOMOC ON)
  target_compile_definitions(starling_${name} PUBLIC QT_NO_CAST_TO_ASCII QT_NO_CAST_FROM_ASCII)
endfunction()

# starling_program(NAME SOURCES … [DEPS …] [PRECOMPILED set]): an executable in build/<preset>/bin. Its main.cpp reads the
# command line, so it is optimised less: that takes a quarter less time to compile.
function(starling_program name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "SOURCES;DEPS" ${ARGN})
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set_source_files_properties(main.cpp PROPERTIES COMPILE_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O1>)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} starling_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  starling_precompiled(${name} ${arg_PRECOMPILED})
endfunction()

# Flags of doctest programs: their own files are optimised less than what they test, because compiling them takes longer
# than running them.
add_library(starling_test_flags INTERFACE)
target_compile_definitions(starling_test_flags INTERFACE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_compile_options(starling_test_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-O1>)
endif()

# starling_test(NAME SOURCES … [DEPS …] [TIMEOUT seconds] [PRECOMPILED set] [TRAINS]): one doctest program, run by ctest.
# With a set of precompiled headers other than test, it is optimised as the product is. 77 is its exit status when it
# could not run some of its tests here (tests/support/skip.h). TRAINS: it starts trainers, which take only the processor
# time that others leave (SCHED_IDLE), so no other test runs on two cores meanwhile.
function(starling_test name)
  cmake_parse_arguments(arg "TRAINS" "TIMEOUT;PRECOMPILED" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} starling::tests_support starling_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED test)
    target_link_libraries(${name} PRIVATE starling_test_flags)
  endif()
  starling_precompiled(${name} ${arg_PRECOMPILED})
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 5") # instrumented code is this much slower
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
  if(arg_TRAINS)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
  endif()
endfunction()
