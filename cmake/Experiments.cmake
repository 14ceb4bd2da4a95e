# Lets actors/lab/experiments.S find the experiments that it embeds, and embed them anew when one changes.

file(GLOB experiment_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/actors/lab/experiments/*.yaml")
set_source_files_properties("${PROJECT_SOURCE_DIR}/actors/lab/experiments.S" PROPERTIES
  COMPILE_OPTIONS "-Wa,-I${PROJECT_SOURCE_DIR}/actors/lab"
  OBJECT_DEPENDS "${experiment_files}")
