// Carries the precompiled headers of the tests. It must be an executable: libraries have other code-generation flags.
int main() { return 0; }
