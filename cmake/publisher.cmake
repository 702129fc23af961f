# Whoever publishes Starling sets these to what is theirs: a name below a domain of theirs, their page, their address.
set(STARLING_APP_ID org.starling.Starling CACHE STRING "Name of the desktop entry, the icon and the AppStream component")
set(STARLING_HOMEPAGE https://starling.example.org CACHE STRING "Shown by software centres and package managers")
set(STARLING_MAINTAINER "Starling developers <starling@starling.example.org>" CACHE STRING "Who answers for the packages")
