import { globSync } from 'node:fs';

/** Code whose mistakes would be grave, and the tests that must notice them. */
export interface Area {
  name: string;
  /** Patterns from the root of the repository; `file#name,name` means only these functions of a file. */
  sources: string[];
  /** Test files, the quick ones first. None of them may need the built dashboard. */
  tests: string[];
}

export const areas: Area[] = [
  {
    name: 'domain',
    sources: ['src/domain/**/*.ts'],
    tests: ['test/domain/*.test.ts', 'test/runs/{settings,objection}.test.ts', 'test/docs/documents.test.ts'],
  },
  {
    name: 'access',
    sources: ['src/http/access/*.ts'],
    tests: ['test/http/{every-route,roles,races}.test.ts', 'test/projects/tokens.test.ts', 'test/github/login.test.ts'],
  },
  {
    name: 'claims',
    sources: ['src/runs/lease/*.ts', 'src/runs/store.ts'],
    tests: [
      'test/runs/*.test.ts',
      'test/retention.test.ts',
      'test/sprints/running.test.ts',
      'test/e2e/outcomes.test.ts',
    ],
  },
  {
    name: 'outgoing-scan',
    sources: ['src/runs/outgoing/*.ts'],
    tests: ['test/runs/{objection,outgoing-scan,token-shapes}.test.ts'],
  },
  { name: 'closed-addresses', sources: ['src/git/remote-url.ts'], tests: ['test/git/remote-url.test.ts'] },
  {
    name: 'idempotency',
    sources: ['src/http/{idempotency,once}.ts', 'src/db/{ambient,presence}.ts'],
    tests: ['test/http/{idempotency,races}.test.ts', 'test/retention.test.ts'],
  },
  {
    name: 'retention',
    sources: [
      'src/retention.ts',
      'src/github/inbox/delivery-store.ts#deleteOldDeliveries',
      'src/github/sign-in/login-store.ts#deleteOldSignIns',
      'src/http/idempotency.ts#forgetOldKeys',
      'src/projects/event-store.ts#forgetOldEvents',
      'src/runs/lease/journal-store.ts#deleteOldEvents,deleteOldTurns',
    ],
    tests: ['test/retention.test.ts', 'test/github/login.test.ts'],
  },
  {
    name: 'budgets',
    sources: ['src/domain/{budget,remedies}.ts', 'src/projects/budgets.ts'],
    tests: ['test/domain/{budget,remedies,text}.test.ts', 'test/runs/loop.test.ts', 'test/projects/projects.test.ts'],
  },
  {
    name: 'figures',
    sources: ['src/{agents,sprints}/figures-store.ts', 'src/domain/{agent-figures,burndown}.ts'],
    tests: ['test/domain/agent-figures.test.ts', 'test/sprints/figures.test.ts', 'test/agents/agents.test.ts'],
  },
  {
    name: 'wizard',
    sources: ['src/domain/wizard.ts', 'src/planning/operations.ts'],
    tests: ['test/domain/task.test.ts', 'test/planning/*.test.ts'],
  },
  {
    name: 'live-updates',
    sources: ['src/web/live/{put-task,refetch-changes}.ts'],
    tests: ['test/web/without-browser/live.test.ts'],
  },
];

/** Source files, each with the functions that count; none means the whole file. @throws when a pattern finds nothing */
export function sourcesOf({ sources }: Area, root: string): { file: string; functions: string[] }[] {
  return sources.flatMap((source) => {
    const [pattern = '', functions] = source.split('#');
    return existing(pattern, root).map((file) => ({ file, functions: functions?.split(',') ?? [] }));
  });
}

/** @throws when a pattern finds nothing */
export function testsOf({ tests }: Area, root: string): string[] {
  return tests.flatMap((pattern) => existing(pattern, root));
}

function existing(pattern: string, root: string): string[] {
  const files = globSync(pattern, { cwd: root }).sort();
  if (files.length === 0) throw new Error(`no file matches ${pattern}; correct bench/mutate/areas.ts`);
  return files;
}
