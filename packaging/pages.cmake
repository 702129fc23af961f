# Manual pages and completions, from the programs' own --help.

find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(pages ${CMAKE_CURRENT_BINARY_DIR}/pages)
set(zsh_folder ${share}/zsh/site-functions)
if(EXISTS /etc/debian_version)
  set(zsh_folder ${share}/zsh/vendor-completions)
endif()
set(of_client starling starlingd)
set(of_tray starling-tray)
set(of_coordinator starling-coordinator)
set(programs)
set(manual)
set(written)
foreach(component client tray coordinator)
  foreach(program ${of_${component}})
    if(NOT TARGET ${program})
      continue()
    endif()
    list(APPEND programs ${program})
    list(APPEND manual ${program}.1)
    list(APPEND written ${pages}/${program}.1.gz)
    install(FILES ${pages}/${program}.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
    install(FILES ${pages}/${program}.bash DESTINATION ${share}/bash-completion/completions RENAME ${program}
      COMPONENT ${component})
    install(FILES ${pages}/_${program} DESTINATION ${zsh_folder} COMPONENT ${component})
    install(FILES ${pages}/${program}.fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT ${component})
  endforeach()
endforeach()
add_custom_command(
  OUTPUT ${written}
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/help_pages.py --bin ${CMAKE_BINARY_DIR}/bin --out ${pages}
    --libexec ${CMAKE_INSTALL_FULL_LIBEXECDIR}/starling --prefix ${CMAKE_INSTALL_PREFIX} --version ${STARLING_VERSION} ${programs}
  COMMAND ${CMAKE_COMMAND} -E chdir ${pages} gzip -9nf ${manual}
  DEPENDS help_pages.py ${programs}
  VERBATIM)
add_custom_target(pages ALL DEPENDS ${written})
