// Plots as inline SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace troupe::lab {

/// For texts inside HTML and SVG.
std::string escaped(const std::string& text);
/// A short number: 0.034, 12.5, 3400, 1.2e+07.
std::string short_number(double value);
/// The colour of the nth series; after ten they begin again.
std::string colour(std::size_t n);
/// Round numbers that cover the range, some five of them.
std::vector<double> ticks(double low, double high);

struct PlotText {
  std::string title, x, y;
  bool log_x = false;  // line_plot: equal factors are equally far apart
};

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Bar {
  std::string name;
  double value = 0, margin = 0;
  std::string note;  // in place of the value, when there is none
};

struct Stack {
  std::string name;
  std::vector<double> parts;
};

std::string line_plot(const PlotText& text, const std::vector<Line>& lines);
/// Horizontal; one row each.
std::string bar_plot(const PlotText& text, const std::vector<Bar>& bars);
/// Horizontal shares of one whole; `parts` names them.
std::string stack_plot(const PlotText& text, const std::vector<std::string>& parts, const std::vector<Stack>& stacks);
std::string histogram_plot(const PlotText& text, const std::vector<Bar>& columns, std::size_t colour_number);
/// Rows of cells, darker where there is more.
std::string heat_map(const PlotText& text, const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                     const std::vector<std::vector<double>>& cells);

}  // namespace troupe::lab
