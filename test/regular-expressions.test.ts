import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { analyse } from 'scslre';
import ts from 'typescript-checker';

// A pattern whose time grows faster than its text blocks the event loop for seconds when somebody sends the right text.

/** These modules run in threads with a time limit. */
const inThreads = new Set([
  'worker/proof/judge-contents.ts',
  'domain/proof/tests/lost-tests.ts',
  'domain/proof/tests/new-lines.ts',
  'domain/proof/tests/texts-in-lines.ts',
  'domain/proof/tests/test-results.ts',
]);

const root = resolve(import.meta.dirname, '../src');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.(ts|mjs)$/.test(file) && !file.startsWith('web/') && !inThreads.has(file),
);

const inSandbox = 'runs in the sandbox, in a process with a time limit';
const always = 'matches every text that it begins to match, so it never goes back';

/** Patterns that would be slow for some long texts, and why these never come. */
const neverSlow: Record<string, Record<string, string>> = {
  'config.ts': { '\\/+$': 'reads settings of the operator' },
  'domain/secrets.ts': { '=+$': 'Base64 ends with two characters of these at most' },
  'host/database-url.ts': {
    '^(postgres(?:ql)?:\\/\\/(?:[^@/?#]*@)?)([^@/?#]*)([^#]*)$': 'reads a setting of the operator',
  },
  'tracing/settings.ts': { '\\/+$': 'reads settings of the operator' },
  'images/layers.ts': { '^[ \\0]*([0-7]*)[ \\0]*$': 'reads 12 characters' },
  'outgoing/smaller-pages.ts': { '[?&]page=(\\d+)[^>]*>; *rel="last"': 'reads a header of GitHub, of 16 kB at most' },
  'planning/plan-step.ts': { '^\\.\\.\\/+([^/]+)\\/*(.*)$': always },
  'worker/workspace/open-repositories.ts': { '^\\.\\.\\/+([^/]+)\\/*(.*)$': always },
  'markdown/commands.ts': { '^\\s*(\\S*)\\s*([\\s\\S]*)$': always },
  'github/commands/run-verbs.ts': { '^(\\d{1,9})(?:\\s+([\\s\\S]*))?$': always },
  'conversation/briefing/pictures.ts': { '[./]+$': 'reads an address of 400 characters at most' },
  'conversation/tools/edit-tools.ts': {
    '^(\\*\\*\\* (?:Add File|Update File|Delete File|Move to): *|--- (?!\\/dev\\/null)(?:a\\/)?|\\+\\+\\+ (?!\\/dev\\/null)(?:b\\/)?)(.*)$':
      always,
  },
  'domain/learning/evidence.ts': {
    '"[^"]*"|`[^`]*`|\\B\'[^\']*\'\\B|“[^”]*”': 'reads one line that was cut before',
    '[\\w.@-]*[/\\\\][\\w./\\\\@-]*': 'reads one line that was cut before',
  },
  'domain/proof/module-names.ts': {
    '(^|\\/)[^.]+$|\\.(toml|ya?ml|cfg|ini|mk|sh|bash)$': 'reads paths, in a thread with a time limit',
  },
  'domain/proof/tests/test-files.ts': { '\\/?(\\*.*)?$': 'reads words of commands, which the settings limit' },
  'domain/text/name-links.ts': { '^(.*?)([.,;:]*)$': 'reads an address or path of 2,000 characters at most' },
  'domain/text/sanitize.ts': { '-+$': 'reads the first characters of a title' },
  'egress/tools/tools-configuration.ts': {
    '^\\s*(?:registry|index)\\s*=\\s*"(?:sparse\\+)?(https?:[^"]+)"': "reads the machine's own configuration",
  },
  'images/registry/authorize.ts': { '([a-z_]+)=(?:"([^"]*)"|([^\\s,"]+))': 'reads a header, of 16 kB at most' },
  'llm/refusals/refusal.ts': { '(\\d+(?:\\.\\d+)?) ?(ms|h|m|s)': 'reads the pause that a shorter pattern has found' },
  'repositories/customs/conventional.ts': {
    '^([\\p{L}\\p{N}_\\u2060-]{1,30})(?:\\(([^()]{1,60})\\))?(!?):\\s*(.*)$': always,
    '[\\s,;:–-]+$': 'reads a title that was cut before',
  },
  'sandbox/inside/gitignore.mjs': { '^(.*?)\\{([^{}]*,[^{}]*)\\}(.*)$': inSandbox },
  'sandbox/inside/editing/edit.mjs': {
    '\\/+$': inSandbox,
    '^\\s*(?:\\/\\/|#|\\/\\*|--)?\\s*\\.\\.\\.[\\w ]*\\.*\\s*(?:\\*\\/)?$': inSandbox,
  },
  'sandbox/inside/editing/hunk-lines.mjs': { ' *@@$': inSandbox },
  'sandbox/inside/editing/patch-syntax.mjs': {
    '^\\*\\*\\* (Add|Update|Delete) File: *(.+?) *$': inSandbox,
    '^\\*\\*\\* Move to: *(.+?) *$': inSandbox,
  },
  'worker/proof/inside/reached-by-node.mjs': { '\\?.*$': inSandbox, '[?#].*$': inSandbox },
};

interface Pattern {
  file: string;
  source: string;
  flags: string;
}

/** Returns the text of a string or template with `x` in place of each value; undefined for any other expression. */
function textOf(node: ts.Expression | undefined): string | undefined {
  if (node === undefined) return '';
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node))
    return ts.isTemplateExpression(node.template) ? rawOf(node.template) : node.template.rawText;
  if (ts.isTemplateExpression(node))
    return [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('x');
  return undefined;
}

const rawOf = ({ head, templateSpans }: ts.TemplateExpression) =>
  [head, ...templateSpans.map(({ literal }) => literal)].map(({ rawText = '' }) => rawText).join('x');

/** Finds the regular expressions of a file, written as literals or by `new RegExp` from a string or a template. */
function patternsIn(file: string): Pattern[] {
  const found: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      found.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') {
      const [source, flags] = [textOf(node.arguments?.[0]), textOf(node.arguments?.[1])];
      if (source !== undefined) found.push({ file, source, flags: flags ?? '' });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true));
  return found;
}

test('regular expressions take time that grows with their text, and not with its square', () => {
  const patterns = files.flatMap(patternsIn);
  expect(patterns.length).toBeGreaterThan(700);
  const slow = patterns.filter(({ source, flags }) => analyse({ source, flags }).reports.length > 0);
  expect(slow.filter(({ file, source }) => neverSlow[file]?.[source] === undefined)).toEqual([]);
  const known = Object.entries(neverSlow).flatMap(([file, each]) => Object.keys(each).map((source) => [file, source]));
  // Reasons of patterns that are gone go, too.
  expect(known.filter(([file, source]) => !slow.some((each) => each.file === file && each.source === source))).toEqual(
    [],
  );
});
