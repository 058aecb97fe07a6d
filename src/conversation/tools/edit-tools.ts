import { z } from 'zod';
import { type Given, hidden, plainName, words } from '../../llm/calls/declaration.ts';
import { path, pathNames } from '../../repositories/read-tools.ts';
import { answered, refused, tool } from './tool.ts';

const oldNames = words('old_string old_str old_text search find original old_content target_content');
const newNames = words('new_string new_str new_text replace replacement updated new_content replacement_content');
const replaceAll = z.boolean().optional();
const oneEdit = z.strictObject({ old: z.string(), new: z.string(), replaceAll });

/** The tools that change files. */
export const editTools = {
  write_file: tool({
    description:
      'Write a whole file; missing folders are created. For new files, or when most of a file changes. Otherwise use edit_file, which keeps the rest as it is.',
    arguments: z.strictObject({ path, content: z.string(), isNew: z.boolean().optional().meta(hidden) }),
    names: words('write create_file create new_file save_file write_to_file fs_write overwrite_file'),
    argumentNames: {
      path: pathNames,
      content: words('contents text file_text code file_content code_content body data'),
    },
    translate: translateWrite,
    changes: true,
  }),
  edit_file: tool({
    description:
      'Replace a text in a file: old, copied exactly from the file without line numbers, by new. old must occur exactly once, so include enough of the lines around it, unless replaceAll is true. For several places or files at once use apply_patch.',
    arguments: z.strictObject({ path, old: z.string(), new: z.string(), replaceAll }),
    names: words(
      'edit str_replace string_replace replace replace_in_file search_replace search_and_replace update_file modify_file',
    ),
    argumentNames: {
      path: pathNames,
      old: oldNames,
      new: newNames,
      replaceAll: ['all', 'replace_all_occurrences', 'allow_multiple'],
    },
    translate: translateEdit,
    changes: true,
  }),
  multi_edit: tool({
    description: 'Make several edits in one file, all or none.',
    arguments: z.strictObject({ path, edits: z.array(oneEdit).min(1).max(100) }),
    names: ['edit_file_multiple', 'multi_replace'],
    argumentNames: { path: pathNames, edits: ['changes', 'replacements'] },
    translate: (given) => ({ ...given, edits: Array.isArray(given.edits) ? given.edits.map(namedEdit) : given.edits }),
    changes: true,
    offer: 'hidden',
    run: async ({ host }, args) => answered(await host.call('edit_file', args), true),
  }),
  insert_lines: tool({
    description: 'Add lines after a line of a file; 0 adds them before the first.',
    arguments: z.strictObject({ path, line: z.int().min(0), text: z.string() }),
    names: words('insert insert_line insert_at_line insert_content'),
    argumentNames: {
      path: pathNames,
      line: ['insert_line', 'line_number', 'after_line'],
      text: ['new_str', 'insert_text', 'content'],
    },
    changes: true,
    offer: 'hidden',
  }),
  apply_patch: tool({
    description:
      'Apply a patch to one or several files, all of it or nothing. Takes the format "*** Begin Patch" with "*** Update File: <path>", "*** Add File: <path>", "*** Delete File: <path>", "*** Move to: <path>" and hunks of lines marked by " ", "-" and "+" under "@@", and also unified diffs. Give three lines of context around each change.',
    arguments: z.strictObject({ patch: z.string().min(1) }),
    names: words('patch apply_diff git_apply apply_unified_diff patch_file'),
    argumentNames: { patch: words('diff input patch_text unified_diff patch_content') },
    changes: true,
    about: ({ patch }) => filesIn(patch).join(' '),
    run: async ({ host }, { patch }) => {
      const where = repositoryOf(patch);
      if (where === undefined)
        return refused('the patch changes files of several repositories; send one patch for each');
      return answered(await host.call('apply_patch', where), true);
    },
  }),
  delete_file: tool({
    description: 'Delete a file.',
    arguments: z.strictObject({ path }),
    names: words('delete rm remove_file remove unlink'),
    argumentNames: { path: pathNames },
    changes: true,
  }),
};

/**
 * Understands `overwrite: true`, because the tool overwrites files by default. `append` is refused as an unknown
 * argument. Tools of other agents that create files replace no existing one, so a call by their names does not either.
 */
function translateWrite({ overwrite, line_count: _, encoding, ...given }: Given, name: string): Given {
  if (encoding !== undefined && !/^utf-?8$/i.test(String(encoding))) return { ...given, encoding };
  const isCreation = ['create', 'createfile', 'newfile'].includes(plainName(name));
  return { ...given, isNew: overwrite === false || (isCreation && overwrite === undefined) ? true : undefined };
}

/** `edits: [{ old, new }]` with one edit, and blocks of `<<<<<<< SEARCH`. Several edits are the tool multi_edit. */
function translateEdit(given: Given): Given {
  const { expected_replacements: times, instructions: _, diff, edits, ...rest } = given;
  if (times !== undefined && Number(times) !== 1) rest.expected_replacements = times;
  const all = Array.isArray(edits) ? edits : typeof diff === 'string' ? blocksIn(diff) : undefined;
  if (all?.length === 1 && typeof all[0] === 'object') return { ...rest, ...namedEdit(all[0]) };
  return { ...rest, ...(edits === undefined ? {} : { edits }), ...(diff === undefined ? {} : { diff }) };
}

/** Returns the edits of a call of edit_file that has several, so that it becomes a call of multi_edit. */
export function severalEdits({ edits, diff }: Given): unknown[] | undefined {
  const all = Array.isArray(edits) ? edits : typeof diff === 'string' ? blocksIn(diff) : [];
  return all.length > 1 ? all : undefined;
}

/** Gives the keys of one edit their declared names. */
function namedEdit(given: unknown): Record<string, unknown> {
  const plain = (key: string) => key.replace(/[^a-zA-Z]/g, '').toLowerCase();
  const named = (key: string) => {
    if (oldNames.some((other) => plain(other) === plain(key))) return 'old';
    if (newNames.some((other) => plain(other) === plain(key))) return 'new';
    return plain(key) === 'replaceall' ? 'replaceAll' : key;
  };
  return Object.fromEntries(Object.entries(Object(given) as Given).map(([key, value]) => [named(key), value]));
}

/** Reads blocks of `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`. */
function blocksIn(text: string): { old: string; new: string }[] {
  const blocks: { old: string[]; new: string[]; isClosed: boolean }[] = [];
  let into: string[] | undefined;
  for (const line of text.split('\n')) {
    const block = blocks.at(-1);
    if (/^<{5,9} ?SEARCH>?\s*$/.test(line)) {
      blocks.push({ old: [], new: [], isClosed: false });
      into = blocks.at(-1)?.old;
    } else if (/^={5,9}\s*$/.test(line) && block !== undefined && into === block.old) into = block.new;
    else if (/^>{5,9} ?REPLACE\s*$/.test(line) && block !== undefined && into === block.new) {
      block.isClosed = true;
      into = undefined;
    } else into?.push(line);
  }
  if (blocks.some(({ isClosed }) => !isClosed)) return [];
  return blocks.map((block) => ({ old: block.old.join('\n'), new: block.new.join('\n') }));
}

const fileHeader =
  /^(\*\*\* (?:Add File|Update File|Delete File|Move to): *|--- (?!\/dev\/null)(?:a\/)?|\+\+\+ (?!\/dev\/null)(?:b\/)?)(.*)$/gm;

function filesIn(patch: string): string[] {
  return [
    ...new Set([...patch.slice(0, 100_000).matchAll(fileHeader)].map(([, , file]) => file?.split('\t')[0] ?? '')),
  ];
}

/** Finds the repository of a patch: the task's own, or the one into which all its paths lead. */
function repositoryOf(patch: string): { patch: string; path?: string } | undefined {
  const named = filesIn(patch);
  if (!named.some((file) => /^(?:\/work\/|\.\.\/)/.test(file))) return { patch };
  const files = named.map((file) => file.replace(/^\/work\//, ''));
  const names = new Set(files.map((file) => /^\.\.\/+([^/]+)\//.exec(file)?.[1]));
  if (names.size > 1) return undefined;
  const [name] = names;
  const within = (file: string) => file.replace(/^\/work\//, '').replace(/^\.\.\/+[^/]+\/+/, '');
  const own = patch.replace(fileHeader, (_line, head: string, file: string) => head + within(file));
  return name === undefined ? { patch: own } : { patch: own, path: `../${name}/.` };
}
