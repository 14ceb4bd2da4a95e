// Leaks objects on purpose, so that a LeakSanitizer that is off does not go unnoticed.

int main() {
  // Several, since the last pointer may linger in a register, where it counts as held.
  for (int i = 0; i < 10; ++i) {
    volatile char* lost = new char[100];
    lost[0] = 1;
  }
}
