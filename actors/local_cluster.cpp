// Processes of a local cluster.
#include <troupe/actors/local_cluster.hpp>

#include <troupe/actors/probe.hpp>
#include <troupe/config/tf_config.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace troupe {
namespace {

/// Ports that are free now: all are held until all are found, so that they differ.
StatusOr<std::vector<int>> free_ports(std::size_t count) {
  std::vector<int> sockets, ports;
  Status failed;
  for (std::size_t i = 0; i < count && failed.ok(); ++i) {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (s < 0 || bind(s, reinterpret_cast<sockaddr*>(&address), length) != 0 || getsockname(s, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      failed = unavailable("No free port on 127.0.0.1: {}", std::strerror(errno));
    sockets.push_back(s);
    ports.push_back(ntohs(address.sin_port));
  }
  for (int s : sockets)
    if (s >= 0) close(s);
  if (!failed.ok()) return failed;
  return ports;
}

std::string own_program() {
  char path[4096];
  const auto n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : "troupe";
}

void copy_lines(int from, std::string prefix, bool quiet) {
  FILE* in = fdopen(from, "r");
  char* line = nullptr;
  std::size_t size = 0;
  while (getline(&line, &size, in) > 0)
    if (!quiet) fmt::print(stderr, "{} | {}", prefix, line);
  free(line);
  fclose(in);
}

}  // namespace

StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::start(const std::vector<JobCount>& jobs, const std::vector<std::string>& node_arguments,
                                                            bool quiet) {
  auto made = std::make_unique<LocalCluster>();
  std::size_t tasks = 0;
  for (const auto& job : jobs) tasks += static_cast<std::size_t>(job.tasks);
  TRY_ASSIGN(const auto ports, free_ports(tasks));
  std::size_t next = 0;
  for (const auto& job : jobs)
    for (int i = 0; i < job.tasks; ++i) made->cluster_.jobs[job.job][i] = fmt::format("localhost:{}", ports[next++]);
  for (const auto& [job, addresses] : made->cluster_.jobs)
    for (const auto& [index, address] : addresses) TRY(made->spawn(Task{job, index}, node_arguments, quiet));
  TRY(made->wait_until_serving());
  return made;
}

Status LocalCluster::spawn(const Task& task, const std::vector<std::string>& node_arguments, bool quiet) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return unavailable("No pipe for {}/{}: {}", task.job, task.index, std::strerror(errno));
  const std::string config = render_tf_config(cluster_, task), program = own_program();
  std::vector<std::string> words{program, "node"};
  words.insert(words.end(), node_arguments.begin(), node_arguments.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);  // a Ctrl-C on the terminal is ours to pass on
    dup2(out[1], STDOUT_FILENO);
    dup2(out[1], STDERR_FILENO);
    setenv("TF_CONFIG", config.c_str(), 1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execv(program.c_str(), arguments.data());
    _exit(127);
  }
  close(out[1]);
  if (pid < 0) {
    close(out[0]);
    return unavailable("Could not start {}/{}: {}", task.job, task.index, std::strerror(errno));
  }
  auto member = std::make_unique<Member>();
  member->name = fmt::format("{}/{}", task.job, task.index);
  member->pid = pid;
  member->readers.emplace_back(copy_lines, out[0], member->name, quiet);
  members_.push_back(std::move(member));
  return absl::OkStatus();
}

Status LocalCluster::wait_until_serving() {
  for (const auto& [job, addresses] : cluster_.jobs)
    for (const auto& [index, address] : addresses) {
      Status last;
      for (int attempt = 0; attempt < 200; ++attempt) {
        if (std::string who = ended(); !who.empty()) return unavailable("{} ended before it served; its log says why", who);
        last = probe(address, std::chrono::milliseconds(1000));
        if (last.ok()) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
      }
      if (!last.ok()) return unavailable("{}/{} does not answer at {}: {}", job, index, address, text_of(last));
    }
  return absl::OkStatus();
}

std::string LocalCluster::ended() {
  for (auto& member : members_) {
    if (member->pid < 0) continue;
    int status = 0;
    if (waitpid(member->pid, &status, WNOHANG) != member->pid) continue;
    member->pid = -1;
    member->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return member->name;
  }
  return "";
}

bool LocalCluster::stop(std::chrono::milliseconds patience) {
  for (auto& member : members_)
    if (member->pid > 0) kill(member->pid, SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  auto left = [&] {
    bool any = false;
    for (auto& member : members_) any |= member->pid > 0;
    return any;
  };
  while (left() && std::chrono::steady_clock::now() < deadline)
    if (ended().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  bool well = true;
  for (auto& member : members_) {
    if (member->pid > 0) {
      kill(member->pid, SIGKILL);
      waitpid(member->pid, nullptr, 0);
      member->pid = -1;
      member->exit_code = 128 + SIGKILL;
    }
    well &= member->exit_code == 0;
    for (auto& reader : member->readers) reader.join();
    member->readers.clear();
  }
  return well;
}

LocalCluster::~LocalCluster() { stop(std::chrono::seconds(5)); }

}  // namespace troupe
