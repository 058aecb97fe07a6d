import { z } from 'zod';
import type { ToolSpec } from '../llm/model.ts';

const path = z.string().describe("relative to the repository's root");
const line = z.int().min(1);

/**
 * The tools that only read. A chat offers only these. Their names and parameters are part of the published interface,
 * and prompts mention them.
 */
export const readTools = {
  list_files: {
    description: 'List files and folders.',
    arguments: z.strictObject({ path: path.optional(), depth: z.int().min(1).max(10).optional() }),
    changes: false,
  },
  read_file: {
    description: 'Read a text file, whole or some of its lines.',
    arguments: z.strictObject({ path, startLine: line.optional(), endLine: line.optional() }),
    changes: false,
  },
  search: {
    description: 'Find lines that contain a string, or match a regular expression.',
    arguments: z.strictObject({ pattern: z.string().min(1), path: path.optional(), regex: z.boolean().optional() }),
    changes: false,
  },
} as const;

/** Converts tools to the descriptions that are sent to a model. */
export function specsOf(tools: Record<string, { description: string; arguments: z.ZodType }>): ToolSpec[] {
  return Object.entries(tools).map(([name, { description, arguments: schema }]) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(schema);
    return { name, description, parameters };
  });
}

/** Validates the arguments of a call with the schema of its tool. The problem is a message for the model. */
export function parseArguments<S extends z.ZodType>(
  schema: S,
  text: string,
): { ok: true; value: z.output<S> } | { ok: false; problem: string } {
  const given = parseJson(text);
  if (given === undefined) return { ok: false, problem: 'the arguments are not valid JSON; send one JSON object' };
  const parsed = schema.safeParse(given);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, problem: `the arguments do not fit: ${z.prettifyError(parsed.error)}` };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
}
