import { z } from 'zod';
import { trimEndOf } from '../domain/text/sanitize.ts';
import { type Declared, findByName, type Given, hidden, plainName, words } from '../llm/calls/declaration.ts';
import { type Fitted, fitArguments, readObject } from '../llm/calls/fit-arguments.ts';
import type { ToolCall } from '../llm/model.ts';
import type { ToolAnswer } from '../sandbox/sandbox.ts';

/** Names that other agents give to a path. */
export const pathNames = words(
  'file_path filename file filepath file_name target_file absolute_path relative_path relative_workspace_path target_path dir directory dir_path directory_path folder',
);

/** A path in the repository, without the name of the folder in which commands see it. */
export const path = z
  .string()
  .overwrite((given) => given.replace(/^\/work\/+(?=.)/, '').replace(/^\/work\/*$/, '.'))
  .describe("relative to the repository's root");
const line = z.int().min(1);

/**
 * The tools that only read. A chat offers only these. Their names and parameters are part of the published interface,
 * and prompts mention them.
 */
export const readTools = {
  list_files: {
    description:
      'List the files and folders in a folder, without those that git ignores. path may be a glob such as src/**/*.ts. Use it to learn the layout; to find where something is used, search is faster.',
    arguments: z.strictObject({ path: path.optional(), depth: z.int().min(1).max(10).optional() }),
    names: words(
      'ls list list_dir list_directory listdir tree glob find_files find_file file_glob list_folder glob_files',
    ),
    argumentNames: { path: [...pathNames, 'glob', 'glob_pattern'], depth: ['max_depth', 'level', 'levels'] },
    translate: translateList,
    changes: false,
  },
  read_file: {
    description:
      'Read a text file, whole or from startLine to endLine. Each line has its number and a tab in front, which are not part of the file. Read what you are going to change; for one place in a large file, search first and read the lines around it.',
    arguments: z.strictObject({ path, startLine: line.optional(), endLine: line.optional() }),
    names: words(
      'read view view_file cat open_file get_file file_read read_text_file show_file fs_read get_file_content read_files',
    ),
    argumentNames: {
      path: pathNames,
      startLine: words('start offset line_start from from_line begin_line start_line_one_indexed first_line line'),
      endLine: words('end line_end to to_line end_line_one_indexed_inclusive last_line'),
    },
    translate: translateRead,
    changes: false,
  },
  search: {
    description:
      'Find the lines of all files that contain a text, or match a regular expression with regex: true. path limits the search to a folder, a file or a glob. Use it instead of grep in a command. Files that git ignores are left out.',
    arguments: z.strictObject({
      pattern: z.string().min(1).max(2000),
      path: path.optional(),
      regex: z.boolean().optional(),
      ignoreCase: z.boolean().optional().meta(hidden),
      include: z.string().min(1).max(1000).optional().meta(hidden),
    }),
    names: words(
      'grep rg ripgrep grep_search search_files search_file_content search_code code_search search_text find_in_files grep_files search_dir search_in_files find_text',
    ),
    argumentNames: {
      pattern: words('query q search search_term text keyword expression search_pattern search_query string'),
      path: pathNames,
      regex: words('is_regex is_regexp use_regex regexp'),
      ignoreCase: ['case_insensitive', 'i', 'insensitive'],
      include: words('glob file_pattern include_pattern includes file_glob files'),
    },
    translate: translateSearch,
    changes: false,
  },
} as const satisfies Record<string, Declared & { changes: boolean }>;

/** `glob { pattern, path }`: the pattern is relative to the path. */
function translateList(given: Given): Given {
  const { pattern, path: folder, ignore: _, recursive, ...rest } = given;
  if (recursive !== undefined && rest.depth === undefined) rest.depth = isYes(recursive) ? 10 : 1;
  if (typeof pattern !== 'string') return { ...rest, path: pattern ?? folder };
  const isWithin = typeof folder === 'string' && !['', '.', './'].includes(folder);
  return { ...rest, path: isWithin ? `${trimEndOf(folder, '/')}/${pattern}` : pattern };
}

/** `offset` and `limit`, `view_range: [1, 20]`, and -1 for the end. */
function translateRead(given: Given): Given {
  const { limit, view_range: range, line_count: count = limit, should_read_entire_file: _, ...rest } = given;
  if (Array.isArray(range)) [rest.startLine, rest.endLine] = range as unknown[];
  const start = words('startLine start_line offset start').find((key) => rest[key] !== undefined && rest[key] !== null);
  if (start !== undefined && Number(rest[start]) === 0) rest[start] = 1;
  if (Number(rest.endLine) === -1) delete rest.endLine;
  if (Number(rest.end_line) === -1) delete rest.end_line;
  const most = count === undefined || count === null || count === '' ? Number.NaN : Number(count);
  const first = start === undefined ? 1 : Number(rest[start]);
  return most > 0 && first > 0 ? { ...rest, endLine: first + most - 1 } : rest;
}

/** The names of tools whose patterns are always regular expressions, and what else they take. */
const regexTools = /^(?:grep|rg|ripgrep|searchfiles|grepsearch|searchfilecontent|grepfiles)$/;

/** Options of grep that only shape its output. */
const shapes = new Set(words('-n -A -B -C output_mode head_limit context context_lines max_results -r'));

function translateSearch(given: Given, name: string): Given {
  const { regex, '-i': insensitive, case_sensitive: sensitive, caseSensitive = sensitive, multiline, ...rest } = given;
  const kept: Given = Object.fromEntries(Object.entries(rest).filter(([key]) => !shapes.has(key)));
  if (isYes(multiline)) kept.multiline = multiline;
  if (insensitive !== undefined) kept.ignoreCase = insensitive;
  if (caseSensitive !== undefined) kept.ignoreCase = !isYes(caseSensitive);
  // `search_files { path, regex: "a|b" }`
  if (typeof regex === 'string' && !/^(?:true|false)$/i.test(regex) && kept.pattern === undefined)
    return { ...kept, pattern: regex, regex: true };
  if (regex !== undefined) return { ...kept, regex };
  return regexTools.test(plainName(name)) ? { ...kept, regex: true } : kept;
}

const isYes = (value: unknown) => value === true || value === 'true' || value === 1;

/** Calls one of the reading tools for a model. Every problem becomes an answer. */
export async function callReadTool(
  call: ToolCall,
  read: (tool: string, args: object) => Promise<ToolAnswer>,
): Promise<string> {
  const name = findByName<Declared>(readTools, call.name) as keyof typeof readTools | undefined;
  if (name === undefined)
    return `Error: there is no tool ${call.name.slice(0, 100)}; use one of ${Object.keys(readTools).join(', ')}`;
  const tool: Declared = readTools[name];
  const given = fitArguments(tool.arguments, call.arguments, { ...tool, name: call.name });
  if (!given.ok) return `Error: ${given.problem}`;
  const { ok, text } = await read(name, given.value as object);
  return ok ? text : `Error: ${text}`;
}

/** Validates the arguments of a call with the schema of its tool. The problem is a message for the model. */
export function parseArguments<S extends z.ZodType>(schema: S, text: string): Fitted<z.output<S>> {
  return fitArguments(schema, text);
}

/** Reads the arguments of a call without a schema; returns undefined if they are not an object. */
export function parseJson(text: string): Given | undefined {
  const read = readObject(text, {});
  return read.ok ? read.value : undefined;
}
