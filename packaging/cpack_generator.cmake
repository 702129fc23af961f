# Read by cpack once for each kind of package. Debian's takes the symbols out into packages of their own; RPM's drops them.
if(CPACK_GENERATOR STREQUAL "RPM")
  set(CPACK_STRIP_FILES ON)
endif()
