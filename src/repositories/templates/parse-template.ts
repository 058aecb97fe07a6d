// Runs in a worker thread (list-templates.ts), because a malicious file could otherwise block the service.
import { parse } from 'yaml';
import { z } from 'zod';

/** What a template of a repository proposes for a new task. */
export interface Template {
  name: string;
  about: string;
  title: string;
  description: string;
}

/** The most characters of each part. A task takes no longer ones. */
const mostChars = { name: 100, about: 300, title: 200, description: 50_000 };

/**
 * Reads a template of issues: a Markdown file with front matter, or an issue form, which becomes the Markdown that GitHub makes of
 * it. Returns undefined for a file that is none.
 * See https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests
 */
export function parseTemplate(path: string, text: string): Template | undefined {
  const isForm = /\.ya?ml$/i.test(path);
  const plain = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .replaceAll('\0', '');
  const found = isForm ? formIn(plain) : markdownIn(plain);
  if (found === undefined) return undefined;
  const cut = (part: keyof Template) => found[part].trim().slice(0, mostChars[part]).trim();
  return { name: cut('name'), about: cut('about'), title: cut('title'), description: cut('description') };
}

const text = z.string().catch('');

const Header = z.object({ name: z.string().trim().min(1), about: text, description: text, title: text });

/** Limits how often aliases are expanded, as in parse.ts of the settings. */
const options = { schema: 'core', merge: false, logLevel: 'silent', maxAliasCount: 10 } as const;

function yamlIn(source: string): unknown {
  try {
    return parse(source, options);
  } catch {
    return undefined;
  }
}

function markdownIn(source: string): Template | undefined {
  const [all, front = ''] = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(source) ?? [];
  const header = Header.safeParse(all === undefined ? undefined : yamlIn(front));
  if (all === undefined || !header.success) return undefined;
  return { ...header.data, description: source.slice(all.length) };
}

const Option = z.union([z.string(), z.object({ label: z.string() }).transform(({ label }) => label)]).catch('');
const Element = z.object({
  type: z.string(),
  attributes: z
    .object({ label: text, description: text, value: text, options: z.array(Option).catch([]) })
    .catch({ label: '', description: '', value: '', options: [] }),
});
const Form = Header.extend({ body: z.array(Element.catch({ type: '', attributes: none() })) });

function none() {
  return { label: '', description: '', value: '', options: [] };
}

function formIn(source: string): Template | undefined {
  const form = Form.safeParse(yamlIn(source));
  if (!form.success) return undefined;
  const { name, description: about, title, body } = form.data;
  return { name, about, title, description: body.flatMap(partOf).join('\n\n') };
}

/** Returns what an element of a form becomes; nothing for one that only explains. */
function partOf({ type, attributes }: z.output<typeof Element>): string[] {
  const { label, description, value, options } = attributes;
  if (label === '' || !['input', 'textarea', 'dropdown', 'checkboxes'].includes(type)) return [];
  const hint = [description, type === 'dropdown' ? `One of: ${options.join(', ')}` : ''].filter((part) => part !== '');
  const boxes = type === 'checkboxes' ? options.map((option) => `- [ ] ${option}`).join('\n') : '';
  // A comment must not end before its end.
  const comment = hint.length === 0 ? '' : `<!-- ${hint.join(' ').replaceAll('--', '‐‐')} -->`;
  return [[`### ${label}`, comment, value, boxes].filter((part) => part !== '').join('\n\n')];
}
