// What other libraries leak is theirs: HDF5 when a file is damaged, FCLIB whenever it reads one.
#if defined(__SANITIZE_ADDRESS__)
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the sanitizer looks for this name
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5\nleak:libfclib\n"; }
#endif
