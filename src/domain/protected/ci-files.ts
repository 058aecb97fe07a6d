/**
 * Returns the lines of a .gitattributes file that choose a filter for files, in their order (gitattributes(5)). Filters
 * run commands. Only the file at the root defines macros, so `known` has those macros that contain a filter.
 */
export function filterLines(text: string, known: ReadonlySet<string> = new Set()): string[] {
  const lines = linesOf(text);
  const macros = macrosOf(lines, known);
  return lines
    .filter(({ names }) => names.some((name) => name === 'filter' || macros.has(name)))
    .map(({ line }) => line);
}

/** Returns the names of the macros with a filter that a .gitattributes file defines. */
export function filterMacros(text: string): Set<string> {
  return macrosOf(linesOf(text), new Set());
}

interface Line {
  line: string;
  pattern: string;
  /** The names of its attributes, each once. */
  names: string[];
}

function linesOf(text: string): Line[] {
  const found: Line[] = [];
  for (const raw of text.replace(/^(\ufeff|\xef\xbb\xbf)/, '').split('\n')) {
    const words = raw.split(/[ \t\r]+/).filter(Boolean);
    const [pattern] = words;
    if (pattern === undefined || pattern.startsWith('#')) continue;
    // A quoted pattern may contain spaces, and finding its end would require parsing every escape. Treating all words
    // as attributes may find too many filters, but never too few.
    const isQuoted = pattern.startsWith('"');
    const attributes = isQuoted ? words.flatMap((word) => word.split('"')) : words.slice(1);
    found.push({ line: words.join(' '), pattern, names: [...new Set(attributes.map(nameOf))] });
  }
  return found;
}

const macroMark = '[attr]';

/** Finds the macros with a filter, also those that refer to others. Looks at each attribute once, however they refer. */
function macrosOf(lines: Line[], known: ReadonlySet<string>): Set<string> {
  const definitions = lines.filter(({ pattern }) => pattern.startsWith(macroMark) && pattern !== macroMark);
  const usedIn = new Map<string, string[]>();
  for (const { pattern, names } of definitions)
    for (const name of names) {
      const users = usedIn.get(name);
      if (users === undefined) usedIn.set(name, [pattern.slice(macroMark.length)]);
      else users.push(pattern.slice(macroMark.length));
    }
  // A set yields what is added to it while it is read.
  const names = new Set(['filter', ...known]);
  for (const name of names) for (const user of usedIn.get(name) ?? []) names.add(user);
  names.delete('filter');
  return names;
}

/** Returns the name of an attribute that is `name=value`, `name`, `-name` or `!name`. */
function nameOf(attribute: string): string {
  const from = attribute.startsWith('-') || attribute.startsWith('!') ? 1 : 0;
  const end = attribute.indexOf('=', from);
  return attribute.slice(from, end < 0 ? undefined : end);
}

/**
 * Attributes with which files are assigned to Git LFS or taken out (git-lfs-track(1)). `diff` and `merge` with any other
 * value would name programs.
 */
const lfsAttribute = /^(?:(?:filter|diff|merge)=lfs|[-!](?:filter|diff|merge)|[-!]?text|[-!]?lockable)$/;

/**
 * Returns whether a line of a .gitattributes file only assigns files to Git LFS or takes them out. A macro and a quoted pattern
 * are no such lines.
 */
export function isLfsLine(line: string): boolean {
  const [pattern = '', ...attributes] = line.split(/[ \t\r]+/).filter(Boolean);
  if (pattern === '' || pattern.startsWith('"') || pattern.startsWith(macroMark)) return false;
  return attributes.length > 0 && attributes.every((each) => lfsAttribute.test(each));
}

/**
 * Files that tell a CI system what to run. A CI system runs the commands in a pushed branch with the repository's
 * secrets, so an agent that could change these files could read the secrets.
 *
 * A path is relative to the root unless it begins with a double star. A star matches any part of a name. A path also
 * covers everything below it.
 *
 * The list contains the files that only configure a CI, named as in the documentation of each system. It leaves out the
 * configuration of hosting services (netlify.toml, vercel.json, render.yaml, app.json). Those files also contain
 * redirects, headers and other things that agents are asked to change, and those builds run the repository's own
 * scripts anyway.
 */
export const ciFiles: Record<string, string[]> = {
  // https://docs.gitlab.com/ci/
  'GitLab CI': ['.gitlab-ci*.yml', '.gitlab-ci', '.gitlab/ci'],
  // https://circleci.com/docs/configuration-reference/
  CircleCI: ['.circleci', 'circle.yml'],
  // https://docs.travis-ci.com/user/customizing-the-build/
  'Travis CI': ['.travis.yml', '.travis.yaml'],
  // https://learn.microsoft.com/azure/devops/pipelines/yaml-schema/
  'Azure Pipelines': [
    'azure-pipelines*.yml',
    'azure-pipelines*.yaml',
    '.azure-pipelines*.yml',
    '.azure-pipelines*.yaml',
    'azure-pipelines',
    '.azure-pipelines',
    '.azuredevops',
    '.vsts-ci.yml',
  ],
  // https://www.jenkins.io/doc/book/pipeline/jenkinsfile/
  Jenkins: ['**/Jenkinsfile', '**/Jenkinsfile.*', '**/Jenkinsfile-*', '**/*.jenkinsfile'],
  // https://support.atlassian.com/bitbucket-cloud/docs/bitbucket-pipelines-configuration-reference/
  'Bitbucket Pipelines': ['bitbucket-pipelines.yml'],
  // https://confluence.atlassian.com/bamboo/bamboo-specs-894743906.html
  Bamboo: ['bamboo-specs'],
  // https://buildkite.com/docs/agent/v3/cli-pipeline
  Buildkite: ['.buildkite', 'buildkite.yml', 'buildkite.yaml', 'buildkite.json', 'buildkite/pipeline.*'],
  // https://www.appveyor.com/docs/build-configuration/
  AppVeyor: ['appveyor.yml', '.appveyor.yml', 'appveyor.yaml', '.appveyor.yaml'],
  // https://cloud.google.com/build/docs/build-config-file-schema
  'Google Cloud Build': ['cloudbuild.yaml', 'cloudbuild.yml', 'cloudbuild.json'],
  // https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html, the Amplify and CodeCatalyst guides
  AWS: ['buildspec.yml', 'buildspec.yaml', 'amplify.yml', 'amplify.yaml', '.codecatalyst'],
  // https://docs.drone.io/pipeline/overview/
  Drone: ['.drone.yml', '.drone.yaml', '.drone.star', '.drone.jsonnet'],
  // https://developer.harness.io/docs/platform/git-experience/
  Harness: ['.harness'],
  // https://woodpecker-ci.org/docs/usage/project-settings
  Woodpecker: ['.woodpecker', '.woodpecker.yml', '.woodpecker.yaml'],
  // https://crowci.dev/
  'Crow CI': ['.crow', '.crow.yml', '.crow.yaml'],
  // https://docs.semaphoreci.com/reference/pipeline-yaml-reference/
  Semaphore: ['.semaphore'],
  // https://www.jetbrains.com/help/teamcity/storing-project-settings-in-version-control.html
  TeamCity: ['.teamcity'],
  // https://cirrus-ci.org/guide/writing-tasks/
  'Cirrus CI': ['.cirrus.yml', '.cirrus.yaml', '.cirrus.star'],
  // https://docs.gitea.com/usage/actions/overview, https://forgejo.org/docs/latest/user/actions/
  'Gitea and Forgejo Actions': ['.gitea/workflows', '.gitea/actions', '.forgejo/workflows', '.forgejo/actions'],
  // https://codefresh.io/docs/docs/pipelines/what-is-the-codefresh-yaml/
  Codefresh: ['codefresh.yml', 'codefresh.yaml', '.codefresh'],
  // https://devcenter.wercker.com/
  Wercker: ['wercker.yml', '.wercker.yml'],
  // https://pipelinesascode.com/docs/guide/
  Tekton: ['.tekton'],
  // https://man.sr.ht/builds.sr.ht/
  'builds.sr.ht': ['.build.yml', '.build.yaml', '.builds'],
  // https://docs.cloudbees.com/docs/cloudbees-codeship/latest/pro-builds-and-configuration/
  CodeShip: ['codeship-services.yml', 'codeship-steps.yml'],
  // https://docs.bitrise.io/, https://docs.codemagic.io/yaml-basic/yaml-getting-started/
  'Bitrise and Codemagic': ['bitrise.yml', 'bitrise.yaml', '.bitrise', 'codemagic.yaml', 'codemagic.yml'],
  // https://developer.apple.com/documentation/xcode/writing-custom-build-scripts
  'Xcode Cloud': ['**/ci_scripts/ci_*.sh'],
  // https://go-vela.github.io/docs/, https://docs.screwdriver.cd/user-guide/configuration/
  'Vela and Screwdriver': ['.vela.yml', '.vela.yaml', '.vela.star', '.vela.py', 'screwdriver.yaml'],
  // https://zuul-ci.org/docs/zuul/latest/project-config.html
  Zuul: ['zuul.yaml', 'zuul.d', '.zuul.yaml', '.zuul.d'],
  // https://docs.prow.k8s.io/docs/inrepoconfig/, https://docs.taskcluster.net/
  'Prow and Taskcluster': ['.prow.yaml', '.prow', '.taskcluster.yml'],
  // https://docs.gocd.org/current/advanced_usage/pipelines_as_code.html, https://scrutinizer-ci.com/docs/
  'GoCD and Scrutinizer': ['**/*.gocd.yaml', '**/*.gocd.yml', '**/*.gopipeline.json', '.scrutinizer.yml'],
  // https://www.rwx.com/docs/mint, https://depot.dev/docs, https://docs.expo.dev/eas/workflows/
  'RWX, Depot and EAS': ['.rwx', '.mint', '.depot', '.eas/workflows', '.eas/build'],
  // https://packit.dev/docs/configuration, https://docs.devs.evergreen.mongodb.com/, https://docs.onedev.io/
  'Packit, Evergreen and OneDev': [
    '.packit.yaml',
    '.packit.yml',
    'packit.yaml',
    '.evergreen.yml',
    'evergreen.yml',
    '.onedev-buildspec.yml',
  ],
  // https://pre-commit.ci/; developers' machines run these hooks too.
  'pre-commit': ['**/.pre-commit-config.yaml', '**/.pre-commit-config.yml', '**/.pre-commit-hooks.yaml'],
  // https://docs.readthedocs.com/platform/stable/config-file/
  'Read the Docs': ['.readthedocs.yaml', '.readthedocs.yml'],
};
