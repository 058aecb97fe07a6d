/** Documents, pictures, templates and schemas, in which no tool looks for settings. */
const document =
  /\.(mdx?|markdown|rst|rdoc|adoc|txt|html?|css|s[ac]ss|less|svg|png|jpe?g|gif|webp|ico|pdf|woff2?|ttf|mp[34]|csv|tsv|sql|graphqls?|gql|proto|prisma|pot?|erb|haml|slim|hbs|ejs|pug|jinja2?|j2|liquid|twig|[el]?eex|heex|cshtml)$/;
const documentName =
  /^(README|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CONTRIBUTORS|CODEOWNERS|CHANGELOG|CHANGES|HISTORY|NEWS|SPEC|TODO|VERSION|Dockerfile|Procfile)([.-][\w.-]+)?$/;
/** Which versions a package manager chose. docs/proof.md says that nobody looks at them. */
const lockFile =
  /^(.+\.lock(b|\.json)?|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go(\.work)?\.sum|Package\.resolved)$/;
/** Files of git, hosts, editors, and formatters that load no code. Checks do not load them. */
const apart = [
  /^\.(github|gitlab|circleci|buildkite|forgejo|gitea|vscode|idea|devcontainer|changeset|cursor|claude)\//,
  /^(\.deckhand\.ya?ml|\.gitlab-ci\.yml|\.travis\.yml|\.?appveyor\.yml|azure-pipelines\.yml|\.readthedocs\.ya?ml|\.?codecov\.ya?ml|renovate\.json5?|(docker-)?compose[\w.-]*\.ya?ml|\.mailmap|CITATION\.cff)$/,
  /(^|\/)\.(git(ignore|attributes|keep)|keep|DS_Store|editorconfig|(docker|npm|prettier|eslint)ignore|env\.(example|sample|template|dist))$/,
  /(^|\/)(\.?(rustfmt|clippy)\.toml|deny\.toml|\.clang-(format|tidy)|\.golangci\.ya?ml|\.markdownlint[\w.]*|\.yamllint|\.shellcheckrc)$/,
];

const program =
  /\.([cm]?[jt]sx?|vue|svelte|astro|pyi?|rb|go|rs|java|kts?|cs|fs|vb|php|swift|scala|clj[cs]?|c|h|cc|cpp|hpp|mm?|exs?|erl|hs|ml|p[lm]|lua|dart|zig|nim|jl|R|sh|bash)$/;
/** Languages whose ordinary programs lie in folders, so that one in the root of a project is for its build tool. */
const inFoldersOnly = /\.(rs|swift|scala|kts|cljs?|exs|hs|zig|nim)$/;
/** Names of programs that a tool loads from the root of a project, such as `next.config.mjs` or `config-overrides.js`. */
const loadedByTool =
  /[.-]conf(ig)?[.-]|rc\.\w+$|^(config|build)-|-build\.\w+$|^(build|testem)\.\w+$|^(gulp|grunt|jake|fab)file\.\w+$/i;

const manifest =
  /^(package\.json|composer\.json|deno\.jsonc?|pyproject\.toml|setup\.(py|cfg)|Cargo\.toml|go\.mod|Gemfile|pom\.xml|build\.(gradle(\.kts)?|sbt|zig)|mix\.exs|pubspec\.yaml|Package\.swift|rebar\.config|project\.clj|deps\.edn|Pipfile|pixi\.toml|gems\.rb|cpanfile|(Makefile|Build)\.PL|dune-project|cabal\.project|stack\.yaml|shard\.yml|gleam\.toml|elm\.json|Project\.toml|DESCRIPTION|vcpkg\.json|conanfile\.(txt|py)|import_map\.json|.+\.(gemspec|cabal|sln|(cs|fs|vb)proj))$/;

/** Returns the folder of a file, '' for the root of the repository. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Returns the folders in which a tool may look for its files: the root, and those of manifests such as package.json. */
export function projectRoots(paths: Iterable<string>): Set<string> {
  const roots = new Set(['']);
  for (const path of paths) if (manifest.test(nameOf(path))) roots.add(folderOf(path));
  return roots;
}

/**
 * Returns whether a file outside the tests is of a kind that no tool loads by itself, as far as names say: a program or
 * data in an ordinary place, a document, or a file that has nothing to do with checks. Lists of what tools do load are
 * always behind, so whatever is of no known kind is not ordinary.
 */
export function isOrdinary(path: string, roots: Set<string>): boolean {
  const name = nameOf(path);
  if (apart.some((known) => known.test(path)) || lockFile.test(name) || documentName.test(name)) return true;
  if (/(^|\/)\./.test(path)) return false;
  if (document.test(name) || !roots.has(folderOf(path))) return true;
  return program.test(name) && !inFoldersOnly.test(name) && !loadedByTool.test(name);
}

/** Returns whether a file is written in a programming language, by the ending of its name. */
export function isSource(path: string): boolean {
  return program.test(path);
}

/** Returns whether a file may import programs, or name them so that a tool runs them. */
export function mayNamePrograms(path: string): boolean {
  return !document.test(path) && !lockFile.test(nameOf(path)) && !documentName.test(nameOf(path));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
