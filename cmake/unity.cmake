# Unity builds, which compile several files as one: most of a compiler's time is spent on headers, so a folder in one
# piece takes hardly longer than one of its files. Only the preset demo has them; a change of one file would recompile
# its whole group.
set(STARLING_UNITY_FILES 12 CACHE STRING "How many files a unity build compiles as one at most")

# Divides the sources of a library so that names of files compiled as one do not collide.
function(starling_unity_groups target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}") # generated ones, which are not written yet
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py ${STARLING_UNITY_FILES} ${sources}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  foreach(source group IN ZIP_LISTS sources groups)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP group_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
