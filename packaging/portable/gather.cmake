# cmake -DTREE=… -DQT_PLUGINS=… -P gather.cmake
# Copies the system's libraries that the programs of an installed tree need into its lib/: LibTorch, Qt, and their own
# dependencies, with their licences beside it. Leaves out the C library, the dynamic loader and the C++ runtime, which
# every system has: a library of the system that is loaded later, such as a graphics driver, may need a newer one.
cmake_minimum_required(VERSION 3.25)

set(from_system
  "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|nsl|anl)\\.so" "^lib(stdc\\+\\+|gcc_s)\\.so")
# Plug-ins that Qt loads by name at run time. Its platforms are those for a desktop, and one without a screen.
set(plugins
  platforms/libqxcb.so platforms/libqoffscreen.so platforms/libqwayland-generic.so
  iconengines/libqsvgicon.so imageformats/libqsvg.so
  platforminputcontexts/libcomposeplatforminputcontextplugin.so platforminputcontexts/libibusplatforminputcontextplugin.so)

file(GLOB programs ${TREE}/bin/* ${TREE}/libexec/starling/*)
list(FILTER programs EXCLUDE REGEX "qt\\.conf$")
set(libraries)
set(given_away)
if(EXISTS ${TREE}/bin/starling-tray)
  foreach(plugin IN LISTS plugins)
    if(EXISTS ${QT_PLUGINS}/${plugin})
      get_filename_component(folder ${plugin} DIRECTORY)
      file(COPY ${QT_PLUGINS}/${plugin} DESTINATION ${TREE}/lib/qt6/plugins/${folder})
      list(APPEND libraries ${TREE}/lib/qt6/plugins/${plugin})
      list(APPEND given_away ${QT_PLUGINS}/${plugin})
    endif()
  endforeach()
  file(WRITE ${TREE}/bin/qt.conf "[Paths]\nPrefix = ..\nPlugins = lib/qt6/plugins\nTranslations = lib/qt6/translations\n")
endif()

file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${programs}
  LIBRARIES ${libraries}
  RESOLVED_DEPENDENCIES_VAR found
  UNRESOLVED_DEPENDENCIES_VAR missing
  CONFLICTING_DEPENDENCIES_PREFIX conflicting
  PRE_EXCLUDE_REGEXES ${from_system}
  POST_EXCLUDE_REGEXES "^${TREE}/lib/")
if(missing)
  message(FATAL_ERROR "not found on this system: ${missing}")
endif()
foreach(library IN LISTS found)
  get_filename_component(name ${library} NAME)
  file(REAL_PATH ${library} real)
  get_filename_component(real_name ${real} NAME)
  file(COPY ${real} DESTINATION ${TREE}/lib)
  if(NOT name STREQUAL real_name)
    file(RENAME ${TREE}/lib/${real_name} ${TREE}/lib/${name}) # the name under which it is loaded
  endif()
endforeach()

# Libraries that are given away must be accompanied by their licences and the names of their sources.
list(APPEND given_away ${found})
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../packages_of.sh ${given_away}
  OUTPUT_VARIABLE packages OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" packages "${packages}")
set(documents ${TREE}/share/doc)
foreach(package IN LISTS packages)
  configure_file(/usr/share/doc/${package}/copyright ${documents}/libraries/${package} COPYONLY)
endforeach()
execute_process(COMMAND dpkg-query --show --showformat "\${source:Package} \${source:Version}\\n" ${packages}
  COMMAND sort -u OUTPUT_FILE ${documents}/debian-sources COMMAND_ERROR_IS_FATAL ANY)
file(COPY /usr/share/common-licenses DESTINATION ${documents}) # the other licences refer to them
