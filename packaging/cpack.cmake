# Debian and RPM packages of the components; `./dev package` calls cpack with the settings that make them reproducible.

set(CPACK_PACKAGE_NAME starling)
set(CPACK_PACKAGE_VENDOR "Starling developers")
set(CPACK_PACKAGE_CONTACT "${STARLING_MAINTAINER}")
set(CPACK_PACKAGE_HOMEPAGE_URL "${STARLING_HOMEPAGE}")
set(CPACK_PACKAGE_VERSION "${STARLING_VERSION}")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_COMPONENTS_ALL client coordinator)
if(TARGET starling-tray)
  list(APPEND CPACK_COMPONENTS_ALL tray)
endif()
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/cpack_generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cpack_dates.cmake)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each component has its own
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(summary_client "daemon and command of a volunteer in distributed deep learning")
set(summary_tray "window and panel icon of a volunteer in distributed deep learning")
set(summary_coordinator "server of a community's volunteer deep learning project")
set(story "Starling trains neural networks on volunteers' computers, which compute gradients and average them directly among\
 themselves over home links, while computers come and go at any second.")
set(story_client "This package has the daemon, which obeys its owner's rules of when and how much to train, the sandboxed\
 trainer that it starts, and the command that steers it.")
set(story_tray "This package has the window and the icon in the panel that steer the daemon, and opens join links.")
set(story_coordinator "This package has the coordinator that a project runs: it knows the volunteers, counts what they\
 contribute and shows a leaderboard. It does no training itself, and needs no other server; its database can be on a\
 PostgreSQL server.")

# A control file requires short lines, with a blank before each.
function(starling_wrapped text out)
  string(REPLACE " " ";" words "${text}")
  set(line "")
  set(lines "")
  foreach(word IN LISTS words)
    string(LENGTH "${line} ${word}" length)
    if(length GREATER 76)
      string(APPEND lines "${line}\n")
      set(line "${word}")
    else()
      string(STRIP "${line} ${word}" line)
    endif()
  endforeach()
  set(${out} "${lines}${line}" PARENT_SCOPE)
endfunction()

# The newest change to the coordinator's database in this version: its package refuses to replace a newer one.
file(GLOB migrations ${PROJECT_SOURCE_DIR}/db/schema/migrations/*.sql)
list(SORT migrations)
list(GET migrations -1 newest)
get_filename_component(newest ${newest} NAME)
string(REGEX MATCH "^0*([0-9]+)_" unused ${newest})
set(STARLING_SCHEMA ${CMAKE_MATCH_1})

set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian "starling (${STARLING_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})\
 unstable; urgency=medium\n\n  * Starling ${STARLING_VERSION}.\n\n -- ${STARLING_MAINTAINER}  ${date}\n")
execute_process(COMMAND gzip -9nf changelog.Debian WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/debian
  COMMAND_ERROR_IS_FATAL ANY)

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} COMPONENT)
  set(package starling-${component})
  starling_wrapped("${story}" first)
  starling_wrapped("${story_${component}}" second)
  set(CPACK_COMPONENT_${COMPONENT}_DESCRIPTION "${summary_${component}}\n${first}\n\n${second}")
  set(documents ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES debian/copyright ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian.gz DESTINATION ${documents} COMPONENT ${component})
  foreach(name IN ITEMS conffiles preinst postinst prerm postrm)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/debian/${component}.${name})
      configure_file(debian/${component}.${name} ${CMAKE_CURRENT_BINARY_DIR}/debian/${component}/${name} @ONLY)
      list(APPEND CPACK_DEBIAN_${COMPONENT}_PACKAGE_CONTROL_EXTRA
        ${CMAKE_CURRENT_BINARY_DIR}/debian/${component}/${name})
    endif()
  endforeach()
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION science)
  set(CPACK_RPM_${COMPONENT}_PACKAGE_NAME ${package})
  string(SUBSTRING "${summary_${component}}" 0 1 initial) # RPM's begin with a capital, Debian's do not
  string(TOUPPER "${initial}" initial)
  string(SUBSTRING "${summary_${component}}" 1 -1 others)
  set(CPACK_RPM_${COMPONENT}_PACKAGE_SUMMARY "${initial}${others}")
  set(CPACK_RPM_${COMPONENT}_PACKAGE_DESCRIPTION "${first}\n\n${second}")
  set(CPACK_RPM_${COMPONENT}_FILE_NAME RPM-DEFAULT)
endforeach()

# Settings for Debian.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${STARLING_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "${STARLING_HOMEPAGE}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# OpenBLAS on OpenMP: LibTorch brings OpenMP; otherwise two thread pools compete for the cores, and the plain library is
# very slow.
set(CPACK_DEBIAN_CLIENT_PACKAGE_DEPENDS "adduser, libopenblas0-openmp")
# Authorities that vouch for web servers, on which a run's data may lie; for the coordinator, for mail relays.
set(CPACK_DEBIAN_CLIENT_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_COORDINATOR_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_CLIENT_PACKAGE_SUGGESTS "starling-tray")
set(CPACK_DEBIAN_COORDINATOR_PACKAGE_DEPENDS "adduser")
set(CPACK_DEBIAN_COORDINATOR_PACKAGE_SUGGESTS "postgresql, prometheus")
# The platform plug-ins, which no program is linked with.
set(CPACK_DEBIAN_TRAY_PACKAGE_DEPENDS "starling-client (= ${STARLING_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), qt6-qpa-plugins")
set(CPACK_DEBIAN_TRAY_PACKAGE_RECOMMENDS "qt6-wayland, qt6-translations-l10n, hicolor-icon-theme")

# Settings for RPM: the files are those for Debian, and its scripts do the work of dpkg's in RPM's terms.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_PACKAGE_LICENSE "GPL-3.0-or-later")
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_URL "${STARLING_HOMEPAGE}")
set(CPACK_RPM_PACKAGE_GROUP "Applications/Engineering")
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_TRAY_PACKAGE_REQUIRES "starling-client = ${STARLING_VERSION}")
set(CPACK_RPM_TRAY_USER_FILELIST "%config(noreplace) /etc/xdg/autostart/starling-tray.desktop")
set(CPACK_RPM_CLIENT_USER_FILELIST "%config(noreplace) /etc/default/starlingd")
set(CPACK_RPM_COORDINATOR_USER_FILELIST "%config(noreplace) /etc/default/starling-coordinator")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /etc /etc/default /etc/xdg /etc/xdg/autostart /usr/share/applications /usr/share/bash-completion /usr/share/bash-completion/completions
  /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/icons /usr/share/icons/hicolor
  /usr/share/icons/hicolor/scalable /usr/share/icons/hicolor/scalable/apps /usr/share/icons/hicolor/symbolic
  /usr/share/icons/hicolor/symbolic/apps /usr/share/man /usr/share/man/man1
  /usr/share/metainfo /usr/share/zsh /usr/share/zsh/site-functions /usr/share/zsh/vendor-completions /usr/libexec
  /usr/lib/systemd /usr/lib/systemd/system /usr/lib/systemd/user)
# Excludes everything about the machine and the moment of the build.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _buildhost starling\n%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1\n%define packager ${STARLING_MAINTAINER}\n%define _build_id_links none\n%define source_date_epoch_from_changelog 0")
foreach(component IN ITEMS client coordinator)
  string(TOUPPER ${component} COMPONENT)
  configure_file(rpm/${component}.pre ${CMAKE_CURRENT_BINARY_DIR}/rpm/${component}.pre @ONLY)
  set(CPACK_RPM_${COMPONENT}_PRE_INSTALL_SCRIPT_FILE ${CMAKE_CURRENT_BINARY_DIR}/rpm/${component}.pre)
  set(CPACK_RPM_${COMPONENT}_PRE_UNINSTALL_SCRIPT_FILE ${CMAKE_CURRENT_SOURCE_DIR}/rpm/${component}.preun)
  set(CPACK_RPM_${COMPONENT}_POST_UNINSTALL_SCRIPT_FILE ${CMAKE_CURRENT_SOURCE_DIR}/rpm/${component}.postun)
endforeach()

include(CPack)
