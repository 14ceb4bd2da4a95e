// Drawing of plots.
#include <troupe/actors/lab/svg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace troupe::lab {
namespace {

constexpr double row_height = 24;

std::string words(double x, double y, const std::string& content, const char* anchor = "start", const char* kind = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>", x, y, anchor, kind, escaped(content));
}

std::string rule(double x1, double y1, double x2, double y2, const char* kind = "grid") {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>", x1, y1, x2, y2, kind);
}

std::string box(double x, double y, double width, double height, const std::string& fill, const std::string& hint) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>", x, y,
                     std::max(width, 0.0), height, fill, escaped(hint));
}

std::string framed(double width, double height, const std::string& title, const std::string& inside) {
  return fmt::format(
      "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\" "
      "aria-label=\"{}\">{}</svg></figure>\n",
      escaped(title), width, height, width, height, escaped(title), inside);
}

/// Room for the longest name, at about 6.6 pixels a letter.
template <class Rows>
double name_room(const Rows& rows) {
  std::size_t longest = 4;
  for (const auto& row : rows) longest = std::max(longest, row.name.size());
  return std::min(240.0, 14 + 6.8 * static_cast<double>(longest));
}

struct Frame {
  double left, top, right, bottom;
  double x_low, x_high, y_low, y_high;
  double x(double value) const { return left + (right - left) * (value - x_low) / (x_high - x_low); }
  double y(double value) const { return bottom - (bottom - top) * (value - y_low) / (y_high - y_low); }
};

std::vector<double> whole_numbers(double high) {
  std::vector<double> all;
  for (double t = 0; t <= high; ++t) all.push_back(t);
  return all;
}

std::string axes(const Frame& f, const PlotText& text) {
  std::string out;
  for (double t : ticks(f.y_low, f.y_high)) out += rule(f.left, f.y(t), f.right, f.y(t)) + words(f.left - 6, f.y(t) + 4, short_number(t), "end");
  for (double t : text.log_x ? whole_numbers(f.x_high) : ticks(f.x_low, f.x_high))
    out +=
        rule(f.x(t), f.bottom, f.x(t), f.bottom + 4, "axis") + words(f.x(t), f.bottom + 18, short_number(text.log_x ? std::pow(10, t) : t), "middle");
  out += rule(f.left, f.bottom, f.right, f.bottom, "axis");
  out += words((f.left + f.right) / 2, f.bottom + 36, text.x, "middle", "label");
  out += fmt::format("<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\" class=\"label\">{}</text>", (f.top + f.bottom) / 2,
                     escaped(text.y));
  return out;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string short_number(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  return size >= 1e6 || size < 1e-3 ? fmt::format("{:.2g}", value) : fmt::format("{:.4g}", value);
}

std::string colour(std::size_t n) {
  static constexpr std::array<const char*, 10> all{"#1f6fb4", "#d9590c", "#2a8a3c", "#b3242a", "#7a56b0",
                                                   "#7d5348", "#c4529f", "#5f6670", "#8f8b12", "#0e93a3"};
  return all[n % all.size()];
}

std::vector<double> ticks(double low, double high) {
  if (!(high > low)) return {low};
  const double rough = (high - low) / 5, power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (double factor : {1.0, 2.0, 5.0, 10.0})
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  std::vector<double> out;
  for (double t = std::ceil(low / step - 1e-9); t * step <= high + step * 1e-9; ++t) out.push_back(t * step);
  return out;
}

std::string line_plot(const PlotText& text, const std::vector<Line>& given) {
  std::vector<Line> lines = given;
  if (text.log_x)
    for (Line& line : lines)
      for (auto& [x, y] : line.points) x = std::log10(std::max(x, 1.0));
  double x_high = 0, y_low = INFINITY, y_high = -INFINITY;
  for (const Line& line : lines)
    for (const auto& [x, y] : line.points) {
      x_high = std::max(x_high, x);
      y_low = std::min(y_low, y);
      y_high = std::max(y_high, y);
    }
  if (!(x_high > 0)) return "";
  if (y_high - y_low < 1e-9) y_high = y_low + 1;
  // A diverging regression would hide all others.
  if (y_low < -1) y_low = -1;
  const double room = name_room(lines) + 26;
  const Frame f{62, 12, 560, 300, 0, x_high, y_low, y_high + (y_high - y_low) * 0.04};
  std::string out = axes(f, text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string path;
    for (const auto& [x, y] : lines[i].points) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", f.x(x), f.y(std::max(y, y_low)));
    const char* dash = i < 10 ? "" : i < 20 ? " stroke-dasharray=\"6 3\"" : " stroke-dasharray=\"2 3\"";
    if (!path.empty())
      out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}><title>{}</title></path>", path, colour(i), dash,
                         escaped(lines[i].name));
    const double y = f.top + 10 + 18 * static_cast<double>(i);
    out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"{3}\" stroke-width=\"3\"{4}/>", f.right + 14,
                       y - 4, f.right + 34, colour(i), dash);
    out += words(f.right + 40, y, lines[i].name);
  }
  const double height = std::max(346.0, f.top + 20 + 18 * static_cast<double>(lines.size()));
  return framed(f.right + 40 + room, height, text.title, out);
}

std::string bar_plot(const PlotText& text, const std::vector<Bar>& bars) {
  double high = 0;
  for (const Bar& bar : bars) high = std::max(high, bar.value + bar.margin);
  if (!(high > 0)) high = 1;
  const double left = name_room(bars), bottom = 8 + row_height * static_cast<double>(bars.size());
  const Frame f{left, 4, left + 380, bottom, 0, high * 1.02, 0, 1};
  std::string out;
  for (double t : ticks(0, f.x_high)) out += rule(f.x(t), f.top, f.x(t), bottom) + words(f.x(t), bottom + 16, short_number(t), "middle");
  out += words((f.left + f.right) / 2, bottom + 34, text.x, "middle", "label");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double y = 8 + row_height * static_cast<double>(i);
    out += words(left - 8, y + 13, bar.name, "end");
    if (!bar.note.empty()) {
      out += words(left + 6, y + 13, bar.note, "start", "faint");
      continue;
    }
    out += box(left, y + 1, f.x(bar.value) - left, row_height - 8, colour(i), fmt::format("{}: {}", bar.name, short_number(bar.value)));
    if (bar.margin > 0) {
      const double middle = y + 1 + (row_height - 8) / 2;
      out += rule(f.x(std::max(0.0, bar.value - bar.margin)), middle, f.x(bar.value + bar.margin), middle, "whisker");
    }
    out += words(f.x(bar.value + bar.margin) + 6, y + 13, short_number(bar.value));
  }
  return framed(f.right + 70, bottom + 42, text.title, out);
}

std::string stack_plot(const PlotText& text, const std::vector<std::string>& parts, const std::vector<Stack>& stacks) {
  const double left = name_room(stacks), top = 26, bottom = top + 4 + row_height * static_cast<double>(stacks.size());
  const Frame f{left, top, left + 420, bottom, 0, 1, 0, 1};
  std::string out;
  double at = left;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out += box(at, 4, 12, 12, colour(i), parts[i]) + words(at + 17, 14, parts[i]);
    at += 34 + 6.8 * static_cast<double>(parts[i].size());
  }
  for (double t : ticks(0, 1)) out += rule(f.x(t), top, f.x(t), bottom) + words(f.x(t), bottom + 16, fmt::format("{:.0f} %", 100 * t), "middle");
  out += words((f.left + f.right) / 2, bottom + 34, text.x, "middle", "label");
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const double y = top + 4 + row_height * static_cast<double>(i);
    out += words(left - 8, y + 13, stacks[i].name, "end");
    double from = 0;
    for (std::size_t p = 0; p < stacks[i].parts.size(); ++p) {
      const double to = std::min(1.0, from + stacks[i].parts[p]);
      out += box(f.x(from), y + 1, f.x(to) - f.x(from), row_height - 8, colour(p),
                 fmt::format("{}: {} {:.1f} %", stacks[i].name, parts[p], 100 * stacks[i].parts[p]));
      from = to;
    }
  }
  return framed(f.right + 30, bottom + 42, text.title, out);
}

std::string histogram_plot(const PlotText& text, const std::vector<Bar>& columns, std::size_t colour_number) {
  double high = 0;
  for (const Bar& c : columns) high = std::max(high, c.value);
  if (!(high > 0)) return "";
  const Frame f{58, 8, 330, 150, 0, static_cast<double>(columns.size()), 0, high * 1.05};
  std::string out;
  for (double t : ticks(0, f.y_high)) out += rule(f.left, f.y(t), f.right, f.y(t)) + words(f.left - 6, f.y(t) + 4, short_number(t), "end");
  const std::size_t every = std::max<std::size_t>(1, (columns.size() + 7) / 8);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double x = f.x(static_cast<double>(i)), width = f.x(static_cast<double>(i) + 1) - x;
    out += box(x + 0.5, f.y(columns[i].value), width - 1, f.bottom - f.y(columns[i].value), colour(colour_number),
               fmt::format("{}: {}", columns[i].name, short_number(columns[i].value)));
    if (i % every == 0) out += words(x + width / 2, f.bottom + 16, columns[i].name, "middle");
  }
  out += rule(f.left, f.bottom, f.right, f.bottom, "axis") + words((f.left + f.right) / 2, f.bottom + 33, text.x, "middle", "label");
  out += fmt::format("<text transform=\"translate(12 {:.1f}) rotate(-90)\" text-anchor=\"middle\" class=\"label\">{}</text>", (f.top + f.bottom) / 2,
                     escaped(text.y));
  return framed(350, 190, text.title, out);
}

std::string heat_map(const PlotText& text, const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                     const std::vector<std::vector<double>>& cells) {
  double high = 0;
  for (const auto& row : cells)
    for (double cell : row) high = std::max(high, cell);
  if (!(high > 0)) return "";
  const double cell_width = std::clamp(440.0 / static_cast<double>(columns.size()), 6.0, 40.0);
  const double cell_height = std::clamp(360.0 / static_cast<double>(rows.size()), 3.0, 20.0), top = 8;
  double left = 56;
  for (const auto& row : rows) left = std::max(left, 28 + 7.2 * static_cast<double>(row.size()));
  const double right = left + cell_width * static_cast<double>(columns.size()), bottom = top + cell_height * static_cast<double>(rows.size());
  std::string out;
  const auto row_step = static_cast<std::size_t>(std::ceil(14 / cell_height)), column_step = static_cast<std::size_t>(std::ceil(26 / cell_width));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = top + cell_height * static_cast<double>(r);
    if (r % row_step == 0) out += words(left - 6, y + cell_height / 2 + 4, rows[r], "end");
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double share = cells[r][c] / high;
      if (share > 0)
        out += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#1f6fb4\" fill-opacity=\"{:.2f}\"><title>{}, {}: "
            "{}</title></rect>",
            left + cell_width * static_cast<double>(c), y, cell_width, cell_height, 0.06 + 0.94 * share, escaped(rows[r]), escaped(columns[c]),
            short_number(cells[r][c]));
    }
  }
  for (std::size_t c = 0; c < columns.size(); c += column_step)
    out += words(left + cell_width * (static_cast<double>(c) + 0.5), bottom + 15, columns[c], "middle");
  out += rule(left, top, left, bottom, "axis") + rule(left, bottom, right, bottom, "axis") +
         words((left + right) / 2, bottom + 33, text.x, "middle", "label");
  out += fmt::format("<text transform=\"translate(12 {:.1f}) rotate(-90)\" text-anchor=\"middle\" class=\"label\">{}</text>", (top + bottom) / 2,
                     escaped(text.y));
  return framed(std::max(right + 24, 330.0), bottom + 44, text.title, out);
}

}  // namespace troupe::lab
