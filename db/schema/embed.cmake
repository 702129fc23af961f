# Writes OUTPUT, a .cpp with the function NAME() over the scripts NNNN_name.sql of FOLDER, the first of them FIRST.
# Run as a script: cmake -DFOLDER=… -DFIRST=… -DNAME=… -DOUTPUT=… -P embed.cmake
file(GLOB scripts "${FOLDER}/*.sql")
list(SORT scripts)
set(entries "")
set(expected ${FIRST})
foreach(script ${scripts})
  get_filename_component(stem "${script}" NAME_WE)
  if(NOT stem MATCHES "^([0-9][0-9][0-9][0-9])_([a-z0-9_]+)$")
    message(FATAL_ERROR "${script}: migrations are named NNNN_name.sql")
  endif()
  set(name "${CMAKE_MATCH_2}")
  math(EXPR version "1${CMAKE_MATCH_1} - 10000")
  if(NOT version EQUAL expected)
    message(FATAL_ERROR "${script}: the next migration has number ${expected}")
  endif()
  math(EXPR expected "${expected} + 1")
  file(READ "${script}" sql)
  string(APPEND entries "    {${version}, \"${name}\", R\"sql(${sql})sql\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"db/schema/migrate.h\"

namespace starling::db {
namespace {

constexpr Migration kMigrations[] = {
${entries}};

}  // namespace

std::span<const Migration> ${NAME}() { return kMigrations; }

}  // namespace starling::db
")
