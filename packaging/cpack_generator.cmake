# Read by cpack once for each kind of package. Debian's moves the symbols to packages of their own; RPM's drops them.
if(CPACK_GENERATOR STREQUAL "RPM")
  set(CPACK_STRIP_FILES ON)
endif()
