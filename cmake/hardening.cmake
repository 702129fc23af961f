# Flags for released binaries: hardened, and identical to the byte whatever the build folder.

option(STARLING_HARDENED "Compile as for a release: hardened and reproducible" OFF)
if(NOT STARLING_HARDENED)
  return()
endif()

include(CheckCXXCompilerFlag)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_compile_options(-fstack-protector-strong -Wformat -Werror=format-security
  -ffile-prefix-map=${PROJECT_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=starling)
add_compile_definitions(_FORTIFY_SOURCE=2 _GLIBCXX_ASSERTIONS)
foreach(flag -fstack-clash-protection -fcf-protection) # not available on every processor
  string(MAKE_C_IDENTIFIER "STARLING_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options(${flag})
  endif()
endforeach()
add_link_options(-pie -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed)
