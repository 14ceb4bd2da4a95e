// Crossing of devices: values and signals of one device made available on another.
#pragma once

#include <troupe/actors/plan/frames.hpp>
#include <troupe/actors/plan/partition.hpp>

#include <map>
#include <tuple>

namespace troupe {

/// Adds to a graph the nodes that carry values from device to device. All that it is given must outlive it.
class Crossing {
 public:
  /// `frames` are those of the graph before it grows.
  Crossing(Graph& graph, const Frames& frames, const Incarnations& incarnation_of, std::uint64_t* counter)
      : graph_(graph), frames_(frames), incarnation_of_(incarnation_of), counter_(counter) {}

  /// A value on the device of one of its users: that of a Recv, which others there share.
  StatusOr<Edge> carry(const Edge& edge, int user);
  /// A node on the device of `user` that has run when `source` has.
  StatusOr<int> carry_control(int source, int user);

 private:
  /// Where something goes, and for whom; the user gives its name to what is made on the way.
  struct Goal {
    std::string device;
    std::string user;
  };

  StatusOr<Edge> bring(const Edge& edge, std::vector<int> waits, const Goal& goal);
  StatusOr<int> signal(int source, const Goal& goal);
  StatusOr<int> transfer(const Edge& edge, int frame, std::vector<int> waits, const std::string& source, const Goal& goal);
  StatusOr<int> step_along(int frame, const Goal& goal);
  StatusOr<int> close_loop(int frame, int merge, const Goal& goal);
  StatusOr<int> add_token(const std::string& name, std::vector<int> controls, const std::string& device);
  StatusOr<int> add_flow(const char* op, std::vector<Edge> inputs, const Goal& goal, int frame = 0);
  std::string new_name(const std::string& base);

  Graph& graph_;
  const Frames& frames_;
  const Incarnations& incarnation_of_;
  std::uint64_t* counter_;
  std::uint64_t edges_ = 0;
  std::map<std::tuple<int, int, std::string, std::vector<int>>, int> carried_;  // Recvs
  std::map<std::pair<int, std::string>, int> signals_;
  std::map<std::pair<int, std::string>, int> loops_;  // Merges of control loops by frame and device
};

}  // namespace troupe
