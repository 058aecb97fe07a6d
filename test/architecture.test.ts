import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((f) => /\.(tsx?|mjs)$/.test(f) && f !== 'web/api.ts') // generated
  .map((f) => join(root, f));

const imports = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map((m) => ({
    from: relative(root, file),
    to: relative(root, resolve(file, '..', m[1] ?? '')),
  })),
);

test('only the shell imports from outside of src, and only migrations', () => {
  expect(imports.filter(({ to }) => to.startsWith('..'))).toEqual([
    { from: 'compose.ts', to: '../migrations/list.ts' },
  ]);
});

test('only config.ts reads the environment, and only compose.ts creates clients', () => {
  const holding = (pattern: RegExp) =>
    files.filter((f) => pattern.test(readFileSync(f, 'utf8'))).map((f) => relative(root, f));
  expect(holding(/process\.env\b/)).toEqual(['config.ts']);
  expect(holding(/new (\w*Octokit|OpenAI|Probot)\b/)).toEqual(['compose.ts']);
  expect(holding(/new DataSource\b/)).toEqual(['db/database.ts']);
});

const repository = resolve(root, '..');
/** All code that people write, except migrations, which never change once they are released. */
const code = ['src', 'client/src', 'demo', 'test', 'bench', 'deploy'].flatMap((folder) =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .map((f) => join(folder, f))
    .filter((f) => /\.(tsx?|mjs)$/.test(f) && !/^(src\/web|client\/src)\/api\.ts$/.test(f)),
);

test('files are short and have descriptive names', () => {
  const lines = (file: string) => readFileSync(join(repository, file), 'utf8').trimEnd().split('\n').length;
  expect(code.filter((f) => lines(f) > 400)).toEqual([]);
  const vague = /(^|\/)(utils?|helpers?|common|misc|shared|services?|types|lib)(\/|\.)/;
  expect(code.filter((f) => vague.test(f) && !f.startsWith('bench/eval/service/'))).toEqual([]);
});

test('folders have at most 12 files of their own, in tests 18', () => {
  const most = (folder: string) => (/^(src|client)/.test(folder) ? 12 : 18);
  const full = [...Map.groupBy(code, dirname)].filter(([folder, files]) => files.length > most(folder));
  expect(full.map(([folder]) => folder)).toEqual([]);
});

type Folders = Record<string, string[]>;
const { inside, withoutOrder }: { inside: Folders; withoutOrder: Folders } = await import(
  join(repository, '.dependency-cruiser.js')
);

test('every part of a folder is in the order of the linter, or is named as one without', () => {
  const parts = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.parentPath !== root)
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const named = [inside, withoutOrder].flatMap((all) =>
    Object.entries(all).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}`)),
  );
  expect(named.sort()).toEqual(parts.sort());
});

/** Returns the words in backquotes of each row of a table, and of each paragraph. */
function quotedIn(page: string): string[][] {
  const text = readFileSync(join(repository, page), 'utf8');
  const blocks = [...(text.match(/^\|.*$/gm) ?? []), ...text.split(/\n\n/).filter((block) => !block.startsWith('|'))];
  return blocks.map((block) => [...block.matchAll(/`([\w-]+)`/g)].map(([, word = '']) => word));
}

test('docs/architecture.md names every part of a folder, in the order of the linter', () => {
  const blocks = quotedIn('docs/architecture.md');
  const folders = new Set([...Object.keys(inside), ...Object.keys(withoutOrder)]);
  for (const folder of folders) {
    if (folder === 'web' || folder.includes('/')) continue;
    const parts = [...(inside[folder] ?? []), ...(withoutOrder[folder] ?? [])];
    const about = blocks.filter((words) => words.includes(folder));
    const best = about.find((words) => parts.every((part) => words.includes(part))) ?? about.flat();
    expect([folder, parts.filter((part) => !best.includes(part))]).toEqual([folder, []]);
    const from = best.slice(best.indexOf(folder) + 1);
    const inOrder = [...new Set(from)].filter((word) => inside[folder]?.includes(word));
    expect([folder, inOrder]).toEqual([folder, inside[folder] ?? []]);
  }
});

test('docs/dashboard.md lists the folders of the dashboard in the order of the linter', () => {
  const text = readFileSync(join(repository, 'docs/dashboard.md'), 'utf8');
  const section = /^## Source\n([\s\S]*?)^## /m.exec(text)?.[1] ?? '';
  const rows = [...section.matchAll(/^\| (`[^|]*`) \|/gm)].map(([, cell]) => cell).join(' ');
  const listed = [...rows.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
  expect(listed).toEqual(inside.web);
});

test('comments name files that exist', () => {
  const all = [...code, ...readdirSync(join(repository, 'migrations')).map((f) => join('migrations', f))];
  // The repositories of the evaluation have files of the same names.
  const named = all.filter((f) => !f.startsWith('bench/eval/tasks/'));
  const exists = (name: string) => named.some((f) => `/${f}`.endsWith(`/${name.replace(/^(\.+\/)+/, '')}`));
  const gone = code.flatMap((file) =>
    [...readFileSync(join(repository, file), 'utf8').matchAll(/(?:^\s*\/?\*|(?:^|\s)\/\/)(.*)$/gm)]
      // What is in backquotes are examples of names.
      .flatMap(([, comment = '']) => comment.replaceAll(/`[^`]*`/g, '').match(/[\w./-]*\w\.(tsx?|mjs)\b/g) ?? [])
      .filter((name) => !exists(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(gone).toEqual([]);
});

test('the list of migrations has all of them, in the order of their timestamps', async () => {
  const { migrations } = await import('../migrations/list.ts');
  const stamps = migrations.map(({ name }) => Number(/\d{13}$/.exec(name)));
  expect(stamps).toEqual(stamps.toSorted((a, b) => a - b));
  expect(new Set(stamps).size).toBe(readdirSync(join(repository, 'migrations')).length - 1);
});

/** What belongs to the process itself: its threads, its memory, its connections, its disk, the build that it serves. */
const processState = [
  'domain/secrets.ts',
  'environment/keep/unpacked.ts',
  'environment/prepare.ts',
  'git/javascript/git-child.ts',
  'git/work-tree/ignore-worker.mjs',
  'git/work-tree/tree-files.ts',
  'github/inbox/compare-with-github.ts',
  'host/through-proxy.ts',
  'http/limits/hang-up.ts',
  'http/limits/replies.ts',
  'http/pages.ts',
  'images/kept-images.ts',
  'sandbox/limits/disk-use.ts',
];

test('modules of the service keep no state, except for that of the process', () => {
  const state = /^let |^const \w+(: [^=]+)? = new (Map|Set|WeakMap|WeakSet)(<.*>)?\(\);?$/m;
  const holding = files.map((f) => relative(root, f)).filter((f) => state.test(readFileSync(join(root, f), 'utf8')));
  expect(holding.filter((f) => !f.startsWith('web/')).sort()).toEqual(processState);
});

// React calls what an effect returns once the component goes, and methods of the browser that returned nothing may return a promise:
// `scrollIntoView` does so in new versions of Chromium, which TypeScript does not know.
test('an effect returns nothing or a function', () => {
  const careless = code
    .filter((f) => f.startsWith('src/web/'))
    .filter((f) =>
      /use(?:Layout)?Effect\(\(\) => (?!\{|void |\(\) => )/.test(readFileSync(join(repository, f), 'utf8')),
    );
  expect(careless).toEqual([]);
});

/** Names that the field does not use, with those that replaced them. */
const oldNames = {
  Patience: 'RetryPolicy',
  Hearing: 'MessageInbox',
  ModelAway: 'ModelUnavailable',
  furnish: 'prepare',
  sayNo: 'refuse',
  Room: 'SetupContext, GitLimits or FreeSpace',
  openFresh: 'openCleanSandbox',
  openEquipment: 'openCommandAccess',
  openEquipped: 'openMachineWithAccess',
  equipment: 'access',
  showTask: 'queueMirror',
  wakeWorkers: 'notifyIdleWorkers or queueRunJobIfDue',
  unlessUnknown: 'unlessMissing, unlessRefused or ifAnswered',
  inTurn: 'onePerKey, or a name for what is limited',
  otherTools: 'repositoryTools, notePlanTool or exploreTool',
  planVerbs: 'locksPlan',
  forReaders: 'isForReaders',
  onlyOnIssues: 'listedOn',
  assertHeld: 'assertLeased',
  Held: 'Leased',
  trialDays: 'rehearsalDays',
  TrialTrigger: 'RehearsalTrigger',
  findTried: 'findTriedItem',
  insertHeldStep: 'insertLeasedStep',
  insertHeldEvent: 'insertLeasedEvent',
  addStep: 'countTurn',
  showDeliveries: 'showWebhookDeliveries',
  answerPlan: 'answerSprintPlan',
  runToContinue: 'runToTakeUp',
  continuationMessage: 'takeUpMessage',
  tellOfContinuation: 'tellOfTakeUp',
};

/** Names that mean something else in other folders, with those that replaced them here. */
const oldNamesIn: Record<string, Record<string, string>> = {
  'src/automations': {
    TrialQuery: 'RehearsalQuery',
    AutomationTrial: 'Rehearsal',
    tryAutomation: 'rehearseAutomation',
  },
  'src/environment': {
    startTrial: 'startEnvironmentTrial',
    findTrial: 'findEnvironmentTrial',
    runTrial: 'runEnvironmentTrial',
    TrialRequest: 'EnvironmentTrialRequest',
  },
  'src/github': { approvePlan: 'approveSprintPlan' },
  'src/notices': { listDeliveries: 'listWebhookDeliveries' },
  'src/projects': { tenantOf: 'tenantOfProject' },
  'src/runs': { Act: 'RunAct' },
  'src/worker/radar': { Tried: 'PullToTry' },
  'src/domain/lab': { Tried: 'TriedAgent' },
};

test('names that were replaced do not come back', () => {
  const using = (names: object, files: string[]) => {
    const old = new RegExp(`(?<![\\w'"])(${Object.keys(names).join('|')})(?![\\w'"])`);
    return files.filter((f) => old.test(readFileSync(join(repository, f), 'utf8')));
  };
  const others = code.filter((f) => f !== 'test/architecture.test.ts');
  expect(using(oldNames, others)).toEqual([]);
  for (const [folder, names] of Object.entries(oldNamesIn)) {
    const here = others.filter((f) => f.startsWith(`${folder}/`));
    expect(here).not.toEqual([]);
    expect(using(names, here)).toEqual([]);
  }
});
