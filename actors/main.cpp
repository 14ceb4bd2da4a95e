// The program `troupe`.
#include <troupe/actors/commands.hpp>
#include <troupe/config/options_cli.hpp>

#include <absl/synchronization/mutex.h>
#include <CLI/CLI.hpp>
#ifdef TROUPE_MIMALLOC
#include <mimalloc.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace {

/// The allocator of this program serves gRPC and CAF too; naming it here keeps the linker from leaving it out.
void choose_allocator() {
#ifdef TROUPE_MIMALLOC
  // Fresh pages cost more than what most kernels do with them: memory of tensors is kept a while for the next ones.
  mi_option_set_default(mi_option_decommit_delay, 1000);
#endif
}

/// Debian's abseil looks for deadlocks at every lock that gRPC takes.
void trust_grpc() { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

/// oneDNN chooses its code by the processor, and our tiles ask it; equal instructions give equal bytes. False for a name that is none.
bool limit_instructions() {
  const char* wanted = std::getenv("TROUPE_ISA");
  if (!wanted || !*wanted) return true;
  constexpr std::pair<std::string_view, const char*> known[] = {{"sse41", "SSE41"}, {"avx", "AVX"}, {"avx2", "AVX2"}, {"avx512", "AVX512_CORE"}};
  for (const auto& [name, theirs] : known)
    if (name == wanted) return setenv("DNNL_MAX_CPU_ISA", theirs, 1) == 0;
  std::fprintf(stderr, "troupe: TROUPE_ISA is '%s'; there are sse41, avx, avx2 and avx512\n", wanted);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  choose_allocator();
  trust_grpc();
  if (!limit_instructions()) return 2;
  CLI::App app{"TensorFlow's distributed runtime as a company of actors", "troupe"};
  app.set_version_flag("--version", troupe::version());
  app.require_subcommand(1);
  int result = 0;
  troupe::declare_commands(app, result);
  try {
    app.parse(troupe::parsable_arguments(argc, argv));
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  }
  return result;
}
