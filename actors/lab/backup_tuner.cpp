// Comparison of numbers of backups.
#include <troupe/actors/lab/backup_tuner.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::lab {

int BackupTuner::first_guess() const {
  const int workers = static_cast<int>(took_.size());
  return workers < 2 ? 0 : std::max(1, static_cast<int>(std::lround(workers / 25.0)));
}

void BackupTuner::note(int worker, double took) {
  auto& mine = took_[static_cast<std::size_t>(worker)];
  mine.push_back(took);
  if (mine.size() > remembered) mine.pop_front();
  ++noted_;
}

/// Gradients per second for each b, over steps made up of what every worker took: its last time, the one before that, and so on around.
std::vector<double> BackupTuner::gains() const {
  const std::size_t workers = took_.size();
  std::vector<double> length(workers, 0.0), step(workers);
  for (std::size_t r = 0; r < remembered; ++r) {
    for (std::size_t w = 0; w < workers; ++w) step[w] = took_[w][took_[w].size() - 1 - r % took_[w].size()];
    std::sort(step.begin(), step.end());
    for (std::size_t b = 0; b < workers; ++b) length[b] += step[workers - 1 - b];
  }
  for (std::size_t b = 0; b < workers; ++b) length[b] = static_cast<double>(workers - b) / std::max(length[b], 1e-12);
  return length;
}

int BackupTuner::review(int present) {
  const bool due = noted_ >= 4 * took_.size();
  if (!due || std::any_of(took_.begin(), took_.end(), [](const auto& mine) { return mine.empty(); })) return present;
  noted_ = 0;
  const auto gain = gains();
  const auto best = std::max_element(gain.begin(), gain.end());
  if (*best < 1.02 * gain[static_cast<std::size_t>(present)]) return present;
  return static_cast<int>(best - gain.begin());
}

}  // namespace troupe::lab
