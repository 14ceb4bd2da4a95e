# Links gRPC, protobuf and abseil into our programs, where their archives are installed: calls go straight to them, their thread-local
# variables are found without a function, and a program starts without loading some fifty libraries. What is installed for others to link
# names the libraries only.

# Where a library's target is a shared one, its archive of the same name takes its place.
function(troupe_use_archive target)
  foreach(property IMPORTED_LOCATION IMPORTED_LOCATION_NONE IMPORTED_LOCATION_RELEASE)
    get_target_property(location ${target} ${property})
    if(location MATCHES "\\.so[.0-9]*$")
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${location}")
      if(EXISTS "${archive}")
        set_target_properties(${target} PROPERTIES ${property} "${archive}")
      endif()
    endif()
  endforeach()
endfunction()

foreach(name grpc++ grpc gpr address_sorting upb)
  find_library(TROUPE_ARCHIVE_${name} lib${name}.a)
  mark_as_advanced(TROUPE_ARCHIVE_${name})
  list(APPEND grpc_archives "${TROUPE_ARCHIVE_${name}}")
endforeach()
if(grpc_archives MATCHES "NOTFOUND")
  message(STATUS "gRPC's archives are not here: programs load its libraries")
  return()
endif()

get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
list(FILTER imported INCLUDE REGEX "^(absl::|protobuf::libprotobuf$)")
foreach(target IN LISTS imported)
  troupe_use_archive(${target})
endforeach()
list(FILTER imported INCLUDE REGEX "^absl::")
set_target_properties(gRPC::core PROPERTIES INTERFACE_LINK_LIBRARIES
  "${grpc_archives};protobuf::libprotobuf;${imported};RE2::re2;cares;ssl;crypto;ZLIB::ZLIB")
