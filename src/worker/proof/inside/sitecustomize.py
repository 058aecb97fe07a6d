# Notes which functions of a repository run. Python loads this file by its name before any program, in the sandbox of a
# proof only. Each process writes one line of JSON when it ends; see `Sighting` in ../coverage.ts.
import os
import sys


def _watch(folder, wanted_file):
    import atexit
    import dis
    import json
    import re
    import threading
    import time

    with open(wanted_file) as file:
        wanted = json.load(file)
    root = os.path.realpath(os.getcwd()) + os.sep
    programs, watched = wanted["programs"], wanted["watched"]
    new_tests = {root + path for path in wanted["tests"]}
    test_name = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py$")
    # All code that ran, and what ran for a new test, or for a fixture of which the test is not known.
    codes, counting, kinds = {}, {}, {}
    state = {"counts": True}

    def kind_of(code):
        path = os.path.abspath(code.co_filename)
        if path in new_tests or path.endswith("conftest.py"):
            return "new"
        if path.startswith(root) and path[len(root):] in programs:
            return "program"
        return "old" if test_name.search(path) else "other"

    def entered(code):
        """Notes that code began to run. Returns whether that has to be known the next time too."""
        key = id(code)
        if key not in codes:
            codes[key], kinds[key] = code, kind_of(code)
        kind = kinds[key]
        if kind == "new" or kind == "old":
            state["counts"] = kind == "new"
        elif kind == "program" and state["counts"]:
            counting[key] = code
        return kind != "other" and key not in counting

    def traced(frame, _event, _arg):
        entered(frame.f_code)

    if hasattr(sys, "monitoring"):
        monitoring = sys.monitoring

        def started(code, _offset):
            return None if entered(code) else monitoring.DISABLE

        monitoring.use_tool_id(4, "reached")
        monitoring.register_callback(4, monitoring.events.PY_START, started)
        monitoring.set_events(4, monitoring.events.PY_START)
        is_whole = lambda: monitoring.get_tool(4) == "reached"
        stop = lambda: monitoring.set_events(4, 0)
    else:
        sys.settrace(traced)
        threading.settrace(traced)
        is_whole = lambda: sys.gettrace() is traced
        stop = lambda: sys.settrace(None)

    def last_line(code):
        lines = [line for _, line in dis.findlinestarts(code) if line]
        inner = [last_line(each) for each in code.co_consts if hasattr(each, "co_code")]
        return max([code.co_firstlineno] + lines + inner)

    def functions_in(code):
        for each in code.co_consts:
            if hasattr(each, "co_code"):
                # Bodies of classes run when their module is loaded, like the module itself.
                if each.co_flags & 1:
                    yield each
                yield from functions_in(each)

    def reaches(found, lines, cuts):
        modules = [code for code in found if code.co_name == "<module>"]
        bodies = {(f.co_firstlineno, last_line(f)) for module in modules for f in functions_in(module)}
        entered = {(f.co_firstlineno, last_line(f)) for f in found if f.co_flags & 1}

        def is_reached(is_in):
            around = [body for body in bodies if is_in(body)]
            return not around or max(around) in entered

        return any(is_reached(lambda body: body[0] <= line <= body[1]) for line in lines) or any(
            is_reached(lambda body: body[0] < line <= body[1]) for line in cuts
        )

    def write():
        if not is_whole():
            return
        stop()
        loaded, ran, outside = set(), {}, False
        for key, code in list(codes.items()):
            if code.co_filename.startswith("<"):
                continue
            path = os.path.realpath(code.co_filename)
            if not path.startswith(root) or "/site-packages/" in path or "/dist-packages/" in path:
                outside = outside or any(path.endswith(tail) for tail in watched)
                continue
            name = path[len(root):]
            loaded.add(name)
            # A module is loaded once, for whichever test comes first.
            if name in programs and (key in counting or code.co_name == "<module>"):
                ran.setdefault(name, []).append(code)
        reached = [name for name, found in ran.items() if reaches(found, programs[name]["lines"], programs[name]["cuts"])]
        line = json.dumps({"loaded": sorted(loaded)[:1500], "reached": reached, "outside": outside})
        with open(os.path.join(folder, "python-%d-%.6f" % (os.getpid(), time.time())), "w") as file:
            file.write(line + "\n")

    atexit.register(write)


def _next():
    """Loads the file of this name that Python would have loaded without this one."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = module_from_spec(spec)
        spec.loader.exec_module(module)


try:
    if os.environ.get("REACHED_BY_PYTHON"):
        _watch(os.environ["REACHED_BY_PYTHON"], os.environ["REACHED_BY_PYTHON"] + "/wanted.json")
except Exception:  # What cannot be watched runs as it would without this file.
    pass
_next()
