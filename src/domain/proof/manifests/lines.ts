import { isPlainRequirement, isPlainVersion, isTestTool } from './packages.ts';

/** Whether a line of a file decides nothing, where it is. Some files have to be read from their beginning for that. */
type IsHarmless = (line: string) => boolean;

/** The files that are compared by lines, each with what begins to read one. */
const readers: Record<string, (isNewFolder: boolean) => IsHarmless> = {
  'setup.cfg': readSetupCfg,
  'setup.py': () => isHarmlessInSetup,
  'go.mod': readGoMod,
  Gemfile: () => isHarmlessGem,
};

/** Lists of packages for pip. */
const requirements = /^(.*[-_.])?(requirements|constraints)([-_.].*)?\.(txt|in)$/;
/** Settings of Django, which name the class that runs the tests. */
const djangoSettings = /(^|\/)[^/]*(settings|config)[^/]*(\/[^/]+)?\.py$/;

function readerOf(path: string): ((isNewFolder: boolean) => IsHarmless) | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (requirements.test(name) || /(^|\/)requirements\/[^/]+\.(txt|in)$/.test(path)) return () => isHarmlessRequirement;
  if (Object.hasOwn(readers, name)) return readers[name];
  return djangoSettings.test(path) ? () => (line) => !/\bTEST_RUNNER\b/.test(line) : undefined;
}

/** Returns whether a file is one that is compared by lines. */
export function isComparedByLines(path: string): boolean {
  return readerOf(path) !== undefined;
}

/** Characters of a line. A longer one counts as deciding without a look at it. */
const maxLine = 1000;
/** Characters at which some parsers end a line and others do not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these control characters end lines in Python.
const unusual = /[\v\f\x1c-\x1e\x85\u2028\u2029]|\r(?!\n)/;

/** Returns whether a file that is compared by lines differs in one that decides how tests run. */
export function linesDiffer(path: string, before: string, after: string, isNewFolder: boolean): boolean {
  const reader = readerOf(path);
  if (reader === undefined || unusual.test(before) || unusual.test(after)) return true;
  const deciding = (text: string) => {
    const isHarmless = reader(isNewFolder);
    return text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '' && (line.length > maxLine || !isHarmless(line)))
      .join('\n');
  };
  return deciding(before) !== deciding(after);
}

/** Returns a line without a comment at its end. */
function withoutComment(line: string): string {
  return (/^\s*#/.test(line) ? '' : (line.split(/\s#/)[0] ?? '')).trim();
}

function isHarmlessRequirement(line: string): boolean {
  const text = withoutComment(line);
  return text === '' || isPlainRequirement(text);
}

/** Verbs of go.mod that choose versions of ordinary modules. `ignore`, for example, leaves out tests. */
function readGoMod(isNewFolder: boolean): IsHarmless {
  const harmless = new Set(['require', 'retract', 'go', ...(isNewFolder ? ['module'] : [])]);
  let block: string | undefined;
  return (line) => {
    const words = (line.split('//')[0] ?? '').split(/\s+/).filter((word) => word !== '');
    if (words.length === 0) return true;
    const verb = block ?? words.shift() ?? '';
    const isBracket = words.length === 1 && words[0] === (block === undefined ? '(' : ')');
    if (isBracket) block = block === undefined ? verb : undefined;
    return harmless.has(verb) && (isBracket || verb !== 'require' || isHarmlessModule(words));
  };
}

function isHarmlessModule([name = '', version = '', ...others]: string[]): boolean {
  return /^[\w.~/-]+$/.test(name) && /^v\d[\w.+-]*$/.test(version) && others.length === 0 && !isTestTool(name);
}

const version = /^["'][\w.\s<>=~!]*["']$/;
const optionOfGem =
  /^(require: *false|:require *=> *false|((groups?|platforms?): *|:(groups?|platforms?) *=> *)?\[?:\w+\]?)$/;
const blockOfGems = /^(group|platforms?) +:\w+(, *:\w+)* +do$/;

function isHarmlessGem(line: string): boolean {
  const text = withoutComment(line);
  if (text === '' || text === 'end' || blockOfGems.test(text)) return true;
  const [head = '', ...others] = text.split(/, */);
  const name = /^gem +(["'])([\w.-]+)\1$/.exec(head)?.[2];
  return (
    name !== undefined && !isTestTool(name) && others.every((each) => version.test(each) || optionOfGem.test(each))
  );
}

const aboutPython =
  /^(version|description|long_description|long_description_content_type|author|author_email|maintainer|maintainer_email|url|license|keywords|classifiers|project_urls|python_requires|platforms)$/;
const lists = /^(install_requires|tests_require|extras_require)$/;
const linters =
  /^(metadata|flake8|pycodestyle|pydocstyle|isort|mypy(-.*)?|pylint.*|bumpversion.*|bdist_wheel|wheel|sdist|darglint|codespell)$/;

/** Reads an INI file of Python: lines that are indented belong to the key above them. */
function readSetupCfg(): IsHarmless {
  let [section, key] = ['', ''];
  return (line) => {
    const header = /^\[([^\]]*)\]/.exec(line)?.[1];
    if (header !== undefined) {
      [section, key] = [header, ''];
      return linters.test(section) || /^options(\.extras_require)?$/.test(section);
    }
    if (/^[#;]/.test(line.trim())) return true;
    if (/^\s/.test(line)) return key !== '' && isHarmlessSetting(section, key, line.trim());
    const end = line.search(/[=:]|$/);
    key = line.slice(0, end).trim();
    return isHarmlessSetting(section, key, line.slice(end + 1).trim());
  };
}

function isHarmlessSetting(section: string, key: string, value: string): boolean {
  if (section === 'metadata') return aboutPython.test(key);
  if (section === 'options.extras_require' || (section === 'options' && lists.test(key)))
    return value === '' || isPlainRequirement(value);
  if (section === 'options') return /^(python_requires|include_package_data|zip_safe)$/.test(key);
  return linters.test(section);
}

/** Lines of setup.py that set one text, or that are one requirement in a list. Everything else is code. */
function isHarmlessInSetup(line: string): boolean {
  const text = withoutComment(line).replace(/,$/, '');
  if (text === '') return true;
  const item = /^(["'])([^"'\\]*)\1$/.exec(text)?.[2];
  if (item !== undefined) return isPlainRequirement(item);
  const [, name = '', , value = ''] = /^(?:setup\()?(\w+) *= *(["'])([^"'\\]*)\2\)?$/.exec(text) ?? [];
  if (aboutPython.test(name)) return true;
  return /^\w*version\w*$/i.test(name) && isPlainVersion(value);
}
