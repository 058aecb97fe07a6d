/** Features in their order: each may import those before it. */
const features = [
  'audit',
  'projects',
  'repositories',
  'environment',
  'agents',
  'tasks',
  'notices',
  'conversation',
  'runs',
  'lab',
  'worker',
  'sprints',
  'planning',
  'automations',
  'github',
];
/** Subfolders in their order: each may import those before it. A test wants each subfolder here or in `withoutOrder`. */
export const inside = {
  conversation: ['tools', 'mcp', 'briefing'],
  environment: ['keep', 'secrets', 'change'],
  git: ['work-tree', 'native', 'javascript'],
  github: ['app', 'diff', 'issues', 'links', 'mirror', 'follow', 'planning', 'commands', 'inbox'],
  http: ['limits', 'access', 'documents', 'mcp'],
  images: ['registry'],
  notices: ['webhooks', 'mail'],
  llm: ['calls', 'refusals', 'chat', 'responses'],
  runs: ['review', 'proof', 'reviewing', 'pull-proofs', 'waiting', 'taking-up'],
  web: [
    'live',
    'markdown',
    'display',
    'rows',
    'frame',
    'keys',
    'forms',
    'onboarding',
    'account',
    'projects',
    'settings',
    'repositories',
    'environment',
    'proofs',
    'trials',
    'lab',
    'agents',
    'automations',
    'spend',
    'audit',
    'planning',
    'chat',
    'sprints',
    'tasks',
    'board',
    'inbox',
    'runs',
    'palette',
  ],
  'web/board': ['views', 'bulk'],
  'web/tasks': ['actions', 'timeline', 'review', 'merging', 'changes', 'waiting', 'editing'],
  worker: ['workspace', 'leaving', 'proof', 'publish', 'lease'],
};
/** Subfolders that may import their siblings and be imported by them, as long as no files form a circle. */
export const withoutOrder = {
  agents: ['chat', 'learning'],
  conversation: ['prompts', 'reviewing'],
  db: ['embedded', 'tables'],
  domain: [
    ...['automations', 'forecast', 'json', 'lab', 'learning', 'notices', 'proof', 'protected', 'quote', 'receipt'],
    ...['reviewing', 'text'],
  ],
  'domain/proof': ['manifests', 'tests'],
  egress: ['tools'],
  environment: ['draft', 'files'],
  'github/follow': ['merging'],
  'github/mirror': ['proofs', 'reviews'],
  markdown: ['cmark-gfm'],
  repositories: ['customs', 'merging', 'settings', 'templates'],
  runs: ['quote', 'receipts', 'sessions', 'undoing'],
  sandbox: ['inside', 'limits', 'machine'],
  'sandbox/inside': ['editing', 'matching'],
  tasks: ['collisions'],
  web: ['public'],
  'web/agents': ['learning'],
  'web/live': ['queries'],
  'web/planning': ['editing'],
  worker: ['lab', 'radar', 'reviewing', 'undo'],
  'worker/proof': ['inside', 'manifests'],
};
/** They speak to what lies outside, and know no feature. */
const adapters = [
  'db',
  'git',
  'sandbox',
  'egress',
  'images',
  'llm',
  'mcp',
  'outgoing',
  'queue',
  'host',
  'markdown',
  'threads',
  'tracing',
];

const rooms = (names) => `^src/(${names.join('|')})/`;
/** Only these names may be imported by those files, besides files of the same room. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: `^src/${from}/` },
  to: { path: '^(src|migrations|demo|test|bench|deploy)/', pathNot: [`^src/${from}/`, ...allowed] },
});

const pure = rooms(['domain']);
const errors = '^src/errors\\.ts$';
const app = '^src/app\\.ts$';

export default {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Two files that need each other are one file, or miss a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment:
        'A file that nothing imports and that imports nothing is left over. Threads load read-payload.ts by its address.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          '/read-payload\\.ts$',
          '\\.(json|css|html|svg)$',
          '^demo/sample-(repository|dependency)/',
          '\\.mjs$',
          'css\\.d\\.ts$',
        ],
      },
      to: {},
    },
    only('domain-is-pure', 'domain', [], 'The rules need nothing of the program around them.'),
    only('web-knows-the-interface', 'web', [pure], 'The dashboard uses the REST interface and shares the rules.'),
    ...adapters.map((name) =>
      only(
        `adapter-${name}`,
        name,
        [pure, errors, rooms(name === 'threads' ? ['host'] : ['threads', 'host', 'tracing'])],
        'An adapter knows no feature.',
      ),
    ),
    only(
      'http-knows-no-feature',
      'http',
      // Requests say for which tenant they use threads, and a server of requests ends connections as the proxy of runs does.
      [pure, errors, app, rooms(['db', 'threads', 'host', 'tracing'])],
      'The server serves whatever is declared.',
    ),
    ...features.map((name, at) =>
      only(
        `feature-${name}`,
        name,
        [pure, errors, app, rooms(['http', ...adapters, ...features.slice(0, at)])],
        `Features import one way: ${features.join(' → ')}.`,
      ),
    ),
    ...Object.entries(inside).flatMap(([folder, parts]) =>
      parts.slice(0, -1).map((part, at) => ({
        name: `inside-${folder}-${part}`,
        comment: `Subfolders of ${folder} import one way: ${parts.join(' → ')}.`,
        severity: 'error',
        from: { path: `^src/${folder}/${part}/` },
        to: { path: `^src/${folder}/(${parts.slice(at + 1).join('|')})/` },
      })),
    ),
    {
      name: 'client-shares-only-rules',
      comment: 'What the client imports of the service is compiled into its package.',
      severity: 'error',
      from: { path: '^client/' },
      to: { path: '^(src|migrations|demo|test|bench|deploy)/', pathNot: '^src/domain/(text/sanitize\\.ts$|receipt/)' },
    },
    {
      name: 'product-without-demo-and-tests',
      comment: 'What is shipped needs no demo, test or bench.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(client|demo|test|bench|deploy)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(src/web|client/src)/api\\.ts$' },
    tsPreCompilationDeps: true,
    moduleSystems: ['es6'],
    parser: 'swc',
  },
};
