// Finds how many workers need not be waited for, from how long each took lately.
#pragma once

#include <deque>
#include <vector>

namespace troupe::lab {

/// Of n workers and b backups a synchronous step applies n - b gradients and takes as long as the (n - b)th fastest. The b with the most gradients
/// applied per second is the best.
class BackupTuner {
 public:
  explicit BackupTuner(int workers) : took_(static_cast<std::size_t>(workers)) {}

  /// Before anything is known: one in twenty-five, at least one where there is somebody else.
  int first_guess() const;
  void note(int worker, double took);
  /// Every now and then, once all have been seen; otherwise the present one. A small gain changes nothing.
  int review(int present);

 private:
  static constexpr std::size_t remembered = 16;
  std::vector<double> gains() const;
  std::vector<std::deque<double>> took_;
  std::size_t noted_ = 0;
};

}  // namespace troupe::lab
