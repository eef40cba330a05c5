// The module sarrus._cpu: importing it is an ImportError in one line where the processor lacks what the engine is
// compiled for. The package imports it first: _core would end the interpreter by an illegal instruction while it is
// loaded.
//
// Compiled for every x86-64 (python/CMakeLists.txt), so without the templates of nanobind.
#include <Python.h>

#include "sarrus/math/cpu.h"

PyMODINIT_FUNC PyInit__cpu() {
  if (const char* problem = sarrus::check_cpu(); problem != nullptr) {
    PyErr_SetString(PyExc_ImportError, problem);
    return nullptr;
  }
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "_cpu",
                                   "Imported where the processor has what the engine is compiled for.",
                                   0,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  return PyModule_Create(&definition);
}
