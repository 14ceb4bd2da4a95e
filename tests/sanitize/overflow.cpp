// Overflows a signed integer on purpose, so that an UndefinedBehaviorSanitizer that is off does not go unnoticed.

#include <limits>

int main(int argc, char**) {
  volatile int largest = std::numeric_limits<int>::max();
  return largest + argc < 0 ? 0 : 1;
}
