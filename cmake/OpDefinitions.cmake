# Encodes ops/definitions.pbtxt, the facts of every op, for ops/definitions.S to embed in the program.

set(definitions_text "${PROJECT_SOURCE_DIR}/ops/definitions.pbtxt")
set(definitions_source "${PROJECT_SOURCE_DIR}/ops/definitions.S")
set(definitions_binary "${PROJECT_BINARY_DIR}/generated/op_definitions.binpb")

add_custom_command(
  OUTPUT "${definitions_binary}"
  COMMAND protobuf::protoc -I "${TROUPE_PROTO_ROOT}" --encode=troupe.wire.OpList --deterministic_output
    troupe/wire/op_def.proto < "${definitions_text}" > "${definitions_binary}"
  DEPENDS "${definitions_text}" ${TROUPE_PROTOS}
  WORKING_DIRECTORY "${TROUPE_PROTO_ROOT}"
  COMMENT "Encoding the op definitions"
  VERBATIM)

set_source_files_properties("${definitions_source}" PROPERTIES
  COMPILE_DEFINITIONS "TROUPE_OP_DEFINITIONS_FILE=\"${definitions_binary}\""
  OBJECT_DEPENDS "${definitions_binary}")
