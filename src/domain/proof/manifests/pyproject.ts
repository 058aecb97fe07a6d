import { type Decides, type Sides, textIn } from './manifest.ts';
import { isPlainRequirement, isPlainVersion, isTestTool } from './packages.ts';

const linters =
  /^(ruff|black|isort|yapf|autopep8|mypy|pyright|basedpyright|ty|pylint|flake8|bandit|commitizen|semantic_release|towncrier|bumpversion|bumpver|codespell|docformatter|pydocstyle|interrogate|vulture|deptry|djlint|typos|cibuildwheel)$/;
/** What a project says about itself. The header of its table has an empty name. */
const about =
  /^(|description|readme|license|license-files|authors|maintainers|keywords|classifiers|version|requires-python|urls|homepage|repository|documentation)$/;
const lists = /^(dependency-groups\.[^.]+|project\.dependencies|project\.optional-dependencies\.[^.]+)$/;
const headersOfLists = /^(dependency-groups|project\.optional-dependencies)\.$/;
const listsOfPoetry = /^(dev-dependencies|dependencies|group\.[^.]+\.dependencies)$/;

/** Returns whether a value of pyproject.toml decides how tests run, if it differs. */
export const pythonDecides: Decides = (path, sides, isNewFolder) => {
  const [first = '', second = '', ...rest] = path;
  const name = path.join('.');
  if (first === 'tool' && linters.test(second)) return false;
  if (lists.test(name)) return requirementsDiffer(sides);
  if (headersOfLists.test(name) || (first === 'project' && about.test(second))) return false;
  if (first === 'tool' && second === 'poetry' && !poetryDecides(rest, sides)) return false;
  return !(isNewFolder && isOfNewPackage(path, sides));
};

/** How builders name a package and find its files. */
const packaging = /^tool\.(setuptools|hatch\.build|poetry\.packages|pdm\.build|flit)(\.|$)/;
const naming = /^(project|tool\.poetry)\.name$/;
/** Programs that build packages, and run no code of the package while they do. */
const builders =
  /^(hatchling\.build|setuptools\.build_meta|poetry\.core\.masonry\.api|flit_core\.buildapi|pdm\.backend|uv_build|maturin)$/;

/** Returns whether a value only says how a new package is named and built. */
function isOfNewPackage(path: string[], sides: Sides): boolean {
  const name = path.join('.');
  if (naming.test(name)) return !isTestTool(sides.now ?? '');
  if (name === 'build-system.requires') return !requirementsDiffer(sides);
  if (name === 'build-system.build-backend') return builders.test(textIn(sides.now) ?? '');
  return name === 'build-system.' || name === 'project.dynamic' || packaging.test(name);
}

/** Returns whether lists of requirements differ in more than ordinary packages of the registry. */
function requirementsDiffer({ old, now }: Sides): boolean {
  const [were, are] = [itemsOf(old), itemsOf(now)];
  if (were.others !== are.others) return true;
  const changed = [...were.texts, ...are.texts].filter((text) => !were.texts.has(text) || !are.texts.has(text));
  return !changed.every(isPlainRequirement);
}

/** Returns the texts in a list; the list as a whole where it holds something else, such as a group that it includes. */
function itemsOf(list = '[]'): { texts: Set<string>; others: string } {
  const texts = new Set<string>();
  const others = list.replace(/"([^"\\]*)"|'([^']*)'/g, (_all, basic?: string, literal?: string) => {
    texts.add(basic ?? literal ?? '');
    return '';
  });
  return /^\[,*\]$/.test(others) ? { texts, others: '' } : { texts: new Set(), others: list };
}

const keysOfPoetry = /^(version|python|extras|optional|platform|markers)$/;

/** Returns whether a value of Poetry decides: it is about something else than the project, or no plain dependency. */
function poetryDecides(path: string[], { old, now }: Sides): boolean {
  if (path.length === 1 || path[0] === 'urls') return !about.test(path[0] ?? '');
  const name = path.at(-1) ?? '';
  if (!listsOfPoetry.test(path.slice(0, -1).join('.'))) return true;
  return isTestTool(name) || ![old, now].every((value) => value === undefined || value === '' || isPlain(value));
}

function isPlain(value: string): boolean {
  return isPlainVersion(textIn(value)) || keysIn(value)?.every((key) => keysOfPoetry.test(key)) === true;
}

/** Returns the keys of an inline table; undefined for another value, and for keys with quotes, dots or tables of their own. */
export function keysIn(value: string): string[] | undefined {
  if (!value.startsWith('{') || !value.endsWith('}')) return undefined;
  const bare = value.slice(1, -1).replace(/"[^"\\]*"|'[^']*'/g, '');
  if (/["'\\{}.]/.test(bare)) return undefined;
  const parts = bare.split(/[,[\]]/).filter((part) => part.includes('='));
  return parts.map((part) => part.slice(0, part.indexOf('=')));
}
