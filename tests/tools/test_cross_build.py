"""Building for other platforms: what Python's headers declare, and the headers of another platform."""
from __future__ import annotations

from tools.cross_build import declared_names, put_headers


def test_functions_and_data_of_python_are_found_in_its_headers(tmp_path):
    (tmp_path / "a.h").write_text(
        "PyAPI_FUNC(PyObject *) PyLong_FromLong(long);\nPyAPI_FUNC(void) _Py_NO_RETURN Py_FatalError(const char *);\n"
        "PyAPI_DATA(PyTypeObject) PyLong_Type;\nint other(void);\n")
    assert declared_names(tmp_path) == (["PyLong_FromLong", "Py_FatalError"], ["PyLong_Type"])


def test_the_settings_of_this_machines_python_stay_behind(tmp_path):
    include = tmp_path / "include"
    (include / "cpython").mkdir(parents=True)
    (include / "cpython" / "object.h").write_text("inner")
    (include / "Python.h").write_text("outer")
    (include / "pyconfig.h").write_text("#define SIZEOF_WCHAR_T 77")
    made = put_headers(include, tmp_path / "made")
    assert (made / "cpython/object.h").read_text() == "inner"
    assert "77" not in (made / "pyconfig.h").read_text()
