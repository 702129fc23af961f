# The publisher of a build's packages. Nothing is registered for this tree, so the defaults are below example.org, which
# is reserved for examples and belongs to nobody. A publisher names a domain they own, an address that is read, and a
# page if there is one: ./dev package -DSTARLING_DOMAIN=… -DSTARLING_MAINTAINER=… -DSTARLING_HOMEPAGE=…
set(STARLING_DOMAIN example.org CACHE STRING "The publisher's domain, which names of desktop entry and AppStream component are below")
set(STARLING_MAINTAINER "Starling developers <starling@${STARLING_DOMAIN}>" CACHE STRING "Who answers for the packages")
set(STARLING_HOMEPAGE "" CACHE STRING "Shown by software centres and package managers; empty: none is named")

string(REPLACE "." ";" STARLING_APP_ID "${STARLING_DOMAIN}")
list(REVERSE STARLING_APP_ID)
list(APPEND STARLING_APP_ID Starling)
list(JOIN STARLING_APP_ID "." STARLING_APP_ID) # org.example.Starling

if(STARLING_PACKAGE AND STARLING_DOMAIN STREQUAL "example.org")
  message(NOTICE "These packages name no publisher: set STARLING_DOMAIN and STARLING_MAINTAINER before giving them away.")
endif()
