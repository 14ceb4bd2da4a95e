// Colocation: groups of nodes that must share a device, and what each group asks of it.
#pragma once

#include <troupe/config/device_name.hpp>
#include <troupe/messaging/status.hpp>
#include <troupe/ops/graph.hpp>

#include <vector>

namespace troupe {

/// What a group asks of its device. `requested` is never wider than the other two.
struct Wish {
  DeviceName requested;
  DeviceName assigned;  // by an earlier placement
  DeviceName resource;  // asked by nodes that make a variable or the like; their users give way to it
};

/// Looks at a graph that must outlive it and must not change meanwhile.
class Colocation {
 public:
  /// `order` is the order in which nodes are looked at, which decides on who is named in an error.
  Colocation(const Graph& graph, const std::vector<int>& order, bool allow_soft_placement);

  /// Forms the groups: references and handles, then `_class`. Errors are TensorFlow's.
  Status gather();

  /// A node that stands for the whole group.
  int group_of(int node);
  const Wish& wish_of(int group) const { return wishes_[static_cast<std::size_t>(group)]; }
  /// Narrows a group to one device.
  void assign(int group, const DeviceName& device);
  /// The members of a group, in order.
  std::vector<int> members_of(int group);

 private:
  Status read_wish(int node);
  Status join_by_edges(int node);
  Status join_by_class(int node);
  Status join_over_edge(int source, int user);
  Status join(int a, int b);
  Status join_class(int node, const std::string& name);
  Wish& wish(int group) { return wishes_[static_cast<std::size_t>(group)]; }

  const Graph& graph_;
  const std::vector<int>& order_;
  bool soft_;
  std::vector<int> parents_, ranks_;
  std::vector<Wish> wishes_;
  std::unordered_map<std::string, int> classes_;  // first node of each class
};

}  // namespace troupe
