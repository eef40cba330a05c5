// Carries the headers that every test includes, precompiled once (tests/CMakeLists.txt). It must be an executable:
// libraries have other code-generation flags.
int main() { return 0; }
