import { passedLine } from '../task.ts';

export const node = { language: 'JavaScript', programs: ['node'], testCommand: 'node test/visible.mjs' } as const;

const script = (checks: string, last: string) =>
  `import assert from 'node:assert/strict';\n${checks.trim()}\n\nconsole.log('${last}');\n`;

export const visible = (checks: string) => script(checks, 'passed');

export const hidden = (checks: string) => ({
  files: { 'hidden-tests/hidden.mjs': script(checks, passedLine) },
  command: 'node hidden-tests/hidden.mjs',
});

export const manifest = (name: string) =>
  `${JSON.stringify({ name, version: '1.0.0', private: true, type: 'module', scripts: { test: node.testCommand } }, null, 2)}\n`;
