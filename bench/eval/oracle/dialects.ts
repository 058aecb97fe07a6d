import type { Action, Dialect } from './actions.ts';

/** The tools of Deckhand. */
export function deckhandTools(offered: Set<string>): Dialect {
  return { hasShell: offered.has('run_command'), write: deckhandCall, failed: deckhandFailed };
}

function deckhandCall(action: Action) {
  switch (action.do) {
    case 'list':
      return { name: 'list_files', arguments: action.path === undefined ? {} : { path: action.path } };
    case 'search':
      return {
        name: 'search',
        arguments: { pattern: action.text, ...(action.path === undefined ? {} : { path: action.path }) },
      };
    case 'read': {
      const lines = action.startLine === undefined ? {} : { startLine: action.startLine };
      return { name: 'read_file', arguments: { path: action.path, ...lines } };
    }
    case 'edit':
      return { name: 'edit_file', arguments: { path: action.path, old: action.old, new: action.new } };
    case 'write':
      return { name: 'write_file', arguments: { path: action.path, content: action.content } };
    case 'remove':
      return { name: 'delete_file', arguments: { path: action.path } };
    case 'test':
      return { name: 'run_command', arguments: { command: action.command } };
    case 'finish':
      return { name: 'finish', arguments: { summary: 'Made the change that the issue asks for.', nextSteps: [] } };
  }
}

/** A refusal begins with "Error"; the exit code of a command comes first or last. */
function deckhandFailed(result: string): boolean {
  if (/^\s*error\b/i.test(result)) return true;
  const lines = result.trim().split('\n');
  const ends = [lines[0], lines.at(-1)].map((line) => /exit(?:ed with)?(?: code)?:? ?(\d+)/i.exec(line ?? '')?.[1]);
  return ends.some((code) => code !== undefined && code !== '0') || /^not run\b/.test(result);
}

/** One shell, as in mini-swe-agent. */
export const shellTools: Dialect = {
  hasShell: true,
  write: (action) => ({ name: 'bash', arguments: { command: commandFor(action) } }),
  failed: (result) => !result.startsWith('<returncode>0</returncode>'),
};

/** The command with which mini-swe-agent's agents end their work. */
const submitCommand = 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT';

function commandFor(action: Action): string {
  switch (action.do) {
    case 'list':
      return `ls ${quoted(action.path ?? '.')} && find ${quoted(action.path ?? '.')} -maxdepth 3 -type f | grep -v node_modules | head -n 200`;
    case 'search':
      return `grep -rnIF --exclude-dir=node_modules -e ${quoted(action.text)} ${quoted(action.path ?? '.')} | head -n 50`;
    case 'read':
      return action.startLine === undefined
        ? `cat ${quoted(action.path)}`
        : `test "$(wc -l < ${quoted(action.path)})" -ge ${action.startLine} && tail -n +${action.startLine} ${quoted(action.path)}`;
    case 'edit':
      return inNode(
        `const text = fs.readFileSync(given.path, 'utf8');
if (text.split(given.old).length !== 2) { console.error('the old text does not occur exactly once'); process.exit(1); }
fs.writeFileSync(given.path, text.replace(given.old, () => given.new));`,
        action,
      );
    case 'write':
      return inNode(
        `fs.mkdirSync(require('node:path').dirname(given.path), { recursive: true });
fs.writeFileSync(given.path, given.content);`,
        action,
      );
    case 'remove':
      return `rm ${quoted(action.path)}`;
    case 'test':
      return action.command;
    case 'finish':
      return submitCommand;
  }
}

/** A script that gets its text as JSON, because a quoted heredoc passes everything on unchanged. */
function inNode(script: string, given: object): string {
  return `node - <<'END_OF_SCRIPT'\nconst fs = require('node:fs');\nconst given = ${JSON.stringify(given)};\n${script}\nEND_OF_SCRIPT`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
