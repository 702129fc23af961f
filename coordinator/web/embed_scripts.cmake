# Writes OUTPUT, a .cpp file that defines scripts() (scripts.h): each of FILES, compressed, named with its digest.
#
#   Run as a script: cmake "-DFILES=…" -DOUTPUT=… -P embed_scripts.cmake
set(arrays "")
set(entries "")
foreach(file ${FILES})
  get_filename_component(name "${file}" NAME_WE)
  file(SHA256 "${file}" digest)
  string(SUBSTRING "${digest}" 0 16 digest)
  set(gzipped "${OUTPUT}.${name}.gz")
  execute_process(COMMAND gzip -9nc "${file}" OUTPUT_FILE "${gzipped}" COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${gzipped}" bytes HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(APPEND arrays "constexpr char k_${name}[] = \"${bytes}\";\n")
  string(APPEND entries "    {\"${name}-${digest}.js\", {k_${name}, sizeof(k_${name}) - 1}},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"coordinator/web/scripts.h\"

namespace starling::web {
namespace {

${arrays}
constexpr Script kScripts[] = {
${entries}};

}  // namespace

std::span<const Script> scripts() { return kScripts; }

}  // namespace starling::web
")
