// The headers that every test includes, precompiled once (tests/CMakeLists.txt).
