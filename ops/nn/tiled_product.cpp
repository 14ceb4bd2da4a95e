// Cutting and packing: a task takes a few panels of the right operand, copies them to where they stay in the second cache while its first tiles
// read them, and goes down the rows.
#include <troupe/ops/nn/tiled_product.hpp>

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>

namespace troupe {
namespace {

// A panel is as wide as a tile. So many of them, so deep, take half of the second cache.
constexpr std::int64_t deepest = 1024, panels_in_group = 4;
// Rows of a task: enough to repay the copy, and few enough that nobody waits long for the last task.
constexpr std::int64_t tiles_in_task = 43;
// What a multiplication with its addition costs.
template <class T>
constexpr double multiply_ns = sizeof(T) == 4 ? 0.006 : 0.012;

constexpr std::int64_t up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

template <class T>
class Product {
 public:
  Product(const Tiles<T>& tiles, const GemmSizes& s, const T* a, bool ta, const T* b, bool tb, T* c)
      : tiles_(tiles), s_(s), a_(a), b_(b), c_(c), ta_(ta), tb_(tb), row_tiles_(up(s.rows, tiles.most_rows)), panels_(up(s.columns, tiles.columns)) {}

  void run(bool accumulate) {
    const std::int64_t slices = up(s_.inner, deepest);
    for (std::int64_t i = 0; i < slices; ++i) slice({s_.inner * i / slices, s_.inner * (i + 1) / slices, accumulate || i > 0});
  }

 private:
  /// A range of the inner dimension.
  struct Slice {
    std::int64_t from, to;
    bool accumulate;
    std::int64_t depth() const { return to - from; }
  };

  void slice(const Slice& slice) const {
    const std::int64_t chunks = up(row_tiles_, tiles_in_task), groups = up(panels_, panels_in_group), tasks = chunks * groups;
    const double task_ns = multiply_ns<T> * static_cast<double>(s_.elements() * slice.depth()) / static_cast<double>(tasks);
    in_parallel(tasks, task_ns, Cut::fine, [&](std::int64_t first, std::int64_t last) {
      Tensor copies(dtype_of<T>::value, Shape{std::min(panels_, panels_in_group), slice.depth(), tiles_.columns});
      for (std::int64_t i = first; i < last; ++i) task(slice, i / chunks, i % chunks, chunks, copies.mutable_data<T>());
    });
  }

  std::int64_t first_row(std::int64_t tile) const { return s_.rows * tile / row_tiles_; }

  void task(const Slice& slice, std::int64_t group, std::int64_t chunk, std::int64_t chunks, T* copies) const {
    const std::int64_t first_tile = row_tiles_ * chunk / chunks, last_tile = row_tiles_ * (chunk + 1) / chunks;
    const std::int64_t first_panel = group * panels_in_group, last_panel = std::min(panels_, first_panel + panels_in_group);
    Tile<T> tile;
    tile.inner = slice.depth();
    tile.accumulate = slice.accumulate;
    tile.c_row = s_.columns;
    tile.a_row = ta_ ? 1 : s_.inner;
    tile.a_inner = ta_ ? s_.rows : 1;
    for (std::int64_t i = first_tile; i < last_tile; ++i) {
      const std::int64_t row = first_row(i);
      tile.rows = static_cast<int>(first_row(i + 1) - row);
      tile.a = ta_ ? a_ + slice.from * s_.rows + row : a_ + row * s_.inner + slice.from;
      for (std::int64_t panel = first_panel; panel < last_panel; ++panel) {
        const std::int64_t column = panel * tiles_.columns;
        T* copy = copies + (panel - first_panel) * slice.depth() * tiles_.columns;
        tile.columns = static_cast<int>(std::min<std::int64_t>(tiles_.columns, s_.columns - column));
        tile.c = c_ + row * s_.columns + column;
        const bool is_first = i == first_tile, in_place = !tb_ && tile.columns == tiles_.columns;
        if (is_first && !in_place) copy_panel(slice, column, tile.columns, copy);
        tile.b = is_first && in_place ? b_ + slice.from * s_.columns + column : copy;
        tile.b_inner = is_first && in_place ? s_.columns : tiles_.columns;
        tile.copy = is_first && in_place && last_tile > first_tile + 1 ? copy : nullptr;
        tiles_.compute(tile);
      }
    }
  }

  /// With zeros where there are no more columns.
  void copy_panel(const Slice& slice, std::int64_t column, std::int64_t columns, T* out) const {
    const std::int64_t width = tiles_.columns, depth = slice.depth();
    if (columns < width) std::fill_n(out, depth * width, T(0));
    if (!tb_) {
      const T* in = b_ + slice.from * s_.columns + column;
      for (std::int64_t k = 0; k < depth; ++k, in += s_.columns, out += width) std::copy_n(in, columns, out);
      return;
    }
    constexpr std::int64_t square = 16;
    const T* in = b_ + column * s_.inner + slice.from;
    for (std::int64_t k = 0; k < depth; k += square)
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t l = k; l < std::min(depth, k + square); ++l) out[l * width + j] = in[j * s_.inner + l];
  }

  const Tiles<T>& tiles_;
  const GemmSizes s_;
  const T *a_, *b_;
  T* c_;
  const bool ta_, tb_;
  const std::int64_t row_tiles_, panels_;
};

}  // namespace

template <class T>
void multiply_in_tiles(const Tiles<T>& tiles, const GemmSizes& sizes, const T* a, bool ta, const T* b, bool tb, T* c, bool accumulate) {
  Product<T>(tiles, sizes, a, ta, b, tb, c).run(accumulate);
}

template void multiply_in_tiles<float>(const Tiles<float>&, const GemmSizes&, const float*, bool, const float*, bool, float*, bool);
template void multiply_in_tiles<double>(const Tiles<double>&, const GemmSizes&, const double*, bool, const double*, bool, double*, bool);

}  // namespace troupe
