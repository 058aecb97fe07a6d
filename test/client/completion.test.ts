import { execFileSync, spawnSync } from 'node:child_process';
import { openPersons } from './command.ts';

const openPerson = openPersons();
const cases = [
  ['', ['login', 'logout', 'task', 'inbox', 'run', 'quote', 'open', 'completion', 'help', '--json', '--project']],
  ['task ', ['create', 'start', 'watch', 'say', 'approve', 'merge', '--help']],
  ['task cr', ['create']],
  ['task create "a title" --pl', ['--plan-first']],
  ['--json task merge task_1 --wh', ['--when-ready']],
  ['run logs -', ['-f', '--follow', '--json']],
  ['completion ', ['bash', 'zsh']],
] as const;

test('bash completes commands and options', async () => {
  const { code, stdout } = await openPerson().run(['completion', 'bash']);
  expect(code).toBe(0);
  for (const [typed, expected] of cases) {
    const words = `deckhand ${typed}`;
    const asked = `${stdout}
COMP_WORDS=(${words.endsWith(' ') ? `${words}''` : words})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_deckhand
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const found = execFileSync('bash', ['--norc', '-c', asked], { encoding: 'utf8' }).split('\n');
    expect([typed, found]).toEqual([typed, expect.arrayContaining([...expected])]);
    if (/[a-z]$/.test(typed)) expect([typed, found]).toEqual([typed, [...expected, '']]);
  }
  // The script is loaded as people do.
  expect(
    execFileSync('bash', ['--norc', '-c', 'eval "$0"; complete -p deckhand', stdout], { encoding: 'utf8' }),
  ).toContain('_deckhand');
});

const hasZsh = spawnSync('zsh', ['--version']).status === 0;
(hasZsh ? test : test.skip)('zsh completes commands and options (skipped where zsh is not installed)', async () => {
  const { stdout } = await openPerson().run(['completion', 'zsh']);
  for (const [typed, expected] of cases) {
    const words = `deckhand ${typed}`;
    const asked = `compdef() { :; }; compadd() { shift; print -l -- "$@"; }
${stdout}
words=(${words.endsWith(' ') ? `${words}''` : words}); CURRENT=\${#words}; _deckhand`;
    const found = execFileSync('zsh', ['-fc', asked], { encoding: 'utf8' }).split('\n');
    expect([typed, found]).toEqual([typed, expect.arrayContaining([...expected])]);
  }
});
