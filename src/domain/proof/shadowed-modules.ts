/**
 * Modules of Python that a new file takes the place of, where Python looks before its own library: those of the standard
 * library, and those of test runners.
 */
const shadowed = new Set(
  `abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cmath cmd code codecs codeop
  collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv ctypes curses dataclasses
  datetime dbm decimal difflib dis doctest email encodings enum errno faulthandler fcntl filecmp fileinput fnmatch fractions
  ftplib functools gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib importlib inspect
  io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math mimetypes mmap multiprocessing
  netrc numbers operator optparse os pathlib pdb pickle pkgutil platform plistlib poplib posix posixpath pprint profile
  pstats pty pwd py_compile pydoc queue quopri random re readline reprlib resource runpy sched secrets select selectors
  shelve shlex shutil signal site smtplib socket socketserver sqlite3 ssl stat statistics string stringprep struct
  subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios textwrap threading time timeit token tokenize
  tomllib trace traceback tracemalloc types typing unicodedata unittest urllib uuid venv warnings wave weakref webbrowser
  wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
  pytest _pytest pluggy iniconfig packaging exceptiongroup hypothesis nose nose2 coverage mock xdist pytest_asyncio
  pytest_mock attr attrs assertpy hamcrest sure expects behave unittest2 testtools testfixtures parameterized freezegun
  responses`.split(/\s+/),
);

/** What is known of the repository in which a module is new. */
export interface PythonPlaces {
  /** The folders of manifests, and the root of the repository. */
  roots: Set<string>;
  /** The files of the base. */
  files: { has(path: string): boolean; keys(): Iterable<string> };
  /** The commands of the checks, with those that they run. */
  commands: string[];
}

/**
 * Returns a function that says whether a new file takes the place of a module that test runners may load: it has the name of
 * one, and lies in a folder in which Python looks first. Those are the roots of projects and their usual folders, those in
 * which commands work or that they name, and those of tests that are no package.
 */
export function findsShadows({ roots, files, commands }: PythonPlaces): (path: string) => boolean {
  const words = commands
    .join('\n')
    .split(/[\s"'=:;&|()]+/)
    .map((word) => word.replace(/^\.\//, '').replace(/\/$/, ''));
  const named = new Set(words);
  const entered = new Set(words.filter((_, i) => /^(cd|PYTHONPATH|pushd)$/.test(words[i - 1] ?? '')));
  const isRoot = (folder: string) => roots.has(folder) || entered.has(folder);
  const foldersOfTests = new Set<string>();
  for (const path of files.keys()) if (testOfPython.test(path)) foldersOfTests.add(folderOf(path));
  return (path) => {
    const [folder, name] = moduleOf(path);
    if (!shadowed.has(name)) return false;
    if (isRoot(folder) || (usualFolder.test(folder) && isRoot(folderOf(folder)))) return true;
    const isPackage = files.has(`${folder}/__init__.py`);
    return !isPackage && (named.has(folder) || foldersOfTests.has(folder));
  };
}

const testOfPython = /(^|\/)(test_[^/]*|[^/]*_test|tests?)\.py$/;
const usualFolder = /(^|\/)(tests?|src|lib)$/;
/** Files that Python loads as modules, also compiled ones. */
const loaded = /\.(py|pyc|pyd|so)$/;

/** Returns the folder of a module and its name, which is empty for other files. */
function moduleOf(path: string): [folder: string, name: string] {
  const file = path.slice(path.lastIndexOf('/') + 1);
  const name = file.slice(0, file.indexOf('.'));
  const folder = folderOf(path);
  if (!loaded.test(file)) return [folder, ''];
  return name === '__init__' ? [folderOf(folder), folder.slice(folder.lastIndexOf('/') + 1)] : [folder, name];
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
