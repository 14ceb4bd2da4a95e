// Runs a whole spec: every mode, number of workers and seed, with progress on the terminal.
#pragma once

#include <troupe/actors/lab/spec.hpp>

#include <string>

namespace troupe::lab {

struct RunOptions {
  std::string spec;    // a file, or the name of a built-in experiment
  std::string folder;  // empty: lab-<name>
  bool quiet = false;
  bool trace = false;  // write every event of every run, for a replay
};

/// Runs what is not finished in the folder yet, then writes the report. Nothing starts when the spec or its data have a mistake.
Status run(const RunOptions& options);

/// Runs a trace again, update by update, with kernels of this process. DATA_LOSS when the parameters differ in a bit.
Status replay(const std::string& folder, const std::string& run);

}  // namespace troupe::lab
