import { z } from 'zod';
import type { ToolSpec } from '../model.ts';

export type Given = Record<string, unknown>;

/** A tool as it is offered to a model, and how to understand calls of it that are written in another way. */
export interface Declared {
  /** Says what the tool does and when to use it instead of another one. */
  description: string;
  /** The arguments. One with the metadata `hidden: true` is accepted but not offered. */
  arguments: z.ZodType;
  /** Names of the same tool in other agents. Case, dashes and underscores do not matter. */
  names?: readonly string[];
  /** Names that other agents give to an argument. */
  argumentNames?: Readonly<Record<string, readonly string[]>>;
  /** Values for required arguments that models leave out. */
  defaults?: Readonly<Given>;
  /**
   * Rewrites arguments of another shape, before they are checked. `name` is the name by which the tool was called. The
   * keys are not renamed yet.
   */
  translate?(given: Given, name: string): Given;
}

/** Splits a list of names. */
export const words = (names: string) => names.trim().split(/\s+/);

/** Marks an argument that models may use although it is not offered. */
export const hidden = { hidden: true };

/** Converts declarations to the descriptions that are sent to a model. */
export function specsOf(tools: Record<string, Pick<Declared, 'description' | 'arguments'>>): ToolSpec[] {
  return Object.entries(tools).map(([name, { description, arguments: schema }]) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(schema);
    const properties = Object.entries(parameters.properties ?? {}).filter(([, property]) => !isHidden(property));
    const shown = parameters.properties === undefined ? {} : { properties: Object.fromEntries(properties) };
    return { name, description, parameters: { ...parameters, ...shown } };
  });
}

function isHidden(property: unknown): boolean {
  return (property as { hidden?: unknown }).hidden === true;
}

/** Returns a name without case, dashes and underscores, and without what chat formats put around it. */
export function plainName(name: string): string {
  const [first = ''] = name.trim().split(/<\||\s|\(/);
  return first
    .replace(/^(?:functions?|tools?|default_api|repo_browser|container)[.:/]/i, '')
    .replace(/[^A-Za-z0-9]/g, '')
    .toLowerCase();
}

/** Finds a tool by its name, or by one that means the same. */
export function findByName<T extends Pick<Declared, 'names'>>(
  tools: Record<string, T>,
  name: string,
): string | undefined {
  if (Object.hasOwn(tools, name)) return name;
  const wanted = plainName(name);
  if (wanted === '') return undefined;
  const fits = (known: string) => plainName(known) === wanted;
  return Object.keys(tools).find(fits) ?? Object.entries(tools).find(([, { names = [] }]) => names.some(fits))?.[0];
}
