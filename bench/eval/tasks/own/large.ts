import { passedLine } from '../task.ts';
import { written } from '../written-task.ts';

const areas = [
  'billing',
  'catalog',
  'delivery',
  'identity',
  'inventory',
  'orders',
  'payments',
  'reviews',
  'search',
  'support',
];
const modules = 200;

/** A repository with 2,000 modules, one of which is wrong. Nothing in the issue names the file. */
function manyFiles(): Record<string, string> {
  const files: Record<string, string> = {
    'package.json':
      '{ "name": "shop", "private": true, "type": "module", "scripts": { "test": "node test/visible.mjs" } }\n',
    'README.md': `# shop\n\nRules of a shop, by area: ${areas.join(', ')}.\n`,
    'test/visible.mjs':
      "import assert from 'node:assert/strict';\nimport { rule as first } from '../src/billing/rule-000.js';\n\nassert.equal(first(10), 10);\n\nconsole.log('passed');\n",
  };
  for (const area of areas)
    for (let n = 0; n < modules; n++) {
      const number = String(n).padStart(3, '0');
      files[`src/${area}/rule-${number}.js`] =
        `/** Rule ${number} of ${area}. */\nexport function rule(amount) {\n  return amount + ${n};\n}\n`;
    }
  files['src/payments/rule-137.js'] = `/** The surcharge for express transfers: 2 percent, at least 1.50. */
export function rule(amount) {
  return amount + Math.min(amount * 0.02, 1.5);
}
`;
  return files;
}

export const largeTasks = [
  written({
    id: 'own-large-surcharge',
    title: 'The surcharge for express transfers is too low',
    issue:
      'An express transfer of 1000 costs 1001.50. The surcharge should be 2 percent and *at least* 1.50, so it should cost 1020. For small amounts it should be 1.50.',
    language: 'JavaScript',
    traits: ['large'],
    programs: ['node'],
    testCommand: 'node test/visible.mjs',
    files: manyFiles(),
    gold: [{ file: 'src/payments/rule-137.js', find: 'Math.min(', replace: 'Math.max(' }],
    cheats: [
      [
        {
          file: 'src/payments/rule-137.js',
          find: '  return amount',
          replace: '  if (amount === 1000) return 1020;\n  return amount',
        },
      ],
    ],
    hidden: {
      files: {
        'hidden-tests/hidden.mjs': `import assert from 'node:assert/strict';
import { rule } from '../src/payments/rule-137.js';
import { rule as neighbour } from '../src/payments/rule-138.js';

assert.equal(rule(1000), 1020);
assert.equal(rule(10), 11.5);
assert.equal(rule(500), 510);
assert.equal(neighbour(1), 139);

console.log('${passedLine}');
`,
      },
      command: 'node hidden-tests/hidden.mjs',
    },
  }),
];
