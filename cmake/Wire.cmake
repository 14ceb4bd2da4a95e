# Compiles messaging/proto/*.proto, which import each other as "troupe/wire/x.proto", to <troupe/wire/x.pb.h>.

set(TROUPE_PROTO_ROOT "${PROJECT_BINARY_DIR}/proto")
set(TROUPE_GENERATED "${PROJECT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${TROUPE_PROTO_ROOT}/troupe" "${TROUPE_GENERATED}/troupe/wire")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/messaging/proto" "${TROUPE_PROTO_ROOT}/troupe/wire" SYMBOLIC)

file(GLOB protos CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/messaging/proto" "${PROJECT_SOURCE_DIR}/messaging/proto/*.proto")
set(TROUPE_PROTOS "")
set(wire_sources "")
set(wire_outputs "")
foreach(proto IN LISTS protos)
  cmake_path(GET proto STEM name)
  list(APPEND TROUPE_PROTOS "${PROJECT_SOURCE_DIR}/messaging/proto/${proto}")
  list(APPEND wire_sources "${TROUPE_GENERATED}/troupe/wire/${name}.pb.cc")
  list(APPEND wire_outputs "${TROUPE_GENERATED}/troupe/wire/${name}.pb.cc" "${TROUPE_GENERATED}/troupe/wire/${name}.pb.h")
endforeach()

# One run for all: an edited message changes whatever imports it.
if(wire_outputs)
  list(TRANSFORM protos PREPEND "troupe/wire/" OUTPUT_VARIABLE proto_names)
  add_custom_command(
    OUTPUT ${wire_outputs}
    COMMAND protobuf::protoc -I "${TROUPE_PROTO_ROOT}" --cpp_out "${TROUPE_GENERATED}" ${proto_names}
    DEPENDS ${TROUPE_PROTOS}
    WORKING_DIRECTORY "${TROUPE_PROTO_ROOT}"
    COMMENT "Compiling the wire's messages"
    VERBATIM)
  add_library(troupe_wire STATIC ${wire_sources})
  target_link_libraries(troupe_wire PUBLIC protobuf::libprotobuf)
  target_include_directories(troupe_wire SYSTEM PUBLIC "$<BUILD_INTERFACE:${TROUPE_GENERATED}>")
  target_compile_options(troupe_wire PRIVATE -w)
else()
  add_library(troupe_wire INTERFACE)
  target_link_libraries(troupe_wire INTERFACE protobuf::libprotobuf)
endif()
