import { z } from 'zod';

/** The most servers that a project may have. */
const maxServers = 20;

const serverName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/,
    'must have 1 to 32 letters, digits, - or _, and begin with a letter or digit',
  );

const url = z.string().max(2048, 'must have at most 2048 characters');

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be the name of an HTTP header, at most 100 characters');

/** An empty value counts as none. */
const headerValue = z
  .string()
  .max(4096, 'must have at most 4096 characters')
  .regex(
    /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/,
    'must be printable ASCII that neither begins nor ends with a space',
  )
  .nullish();

/** Most programs that use MCP servers write headers as an object. Both forms are accepted. */
const headers = z
  .union(
    [
      z.array(z.strictObject({ name: headerName, value: headerValue })).max(20),
      z.record(headerName, headerValue).refine((given) => Object.keys(given).length <= 20),
    ],
    'must be a list of at most 20 headers { name, value }, with printable ASCII as value',
  )
  .transform((given) =>
    Array.isArray(given) ? given : Object.entries(given).map(([name, value]) => ({ name, value })),
  );

const tools = z
  .array(z.string().min(1).max(128, 'must have at most 128 characters'))
  .max(100)
  .nullable()
  .meta({ description: 'the tools to offer to agents, by the names that the server gives them; null for all' });

export const SetMcpServers = z
  .array(
    z.strictObject({
      name: serverName,
      url,
      headers: headers.default([]),
      tools: tools.default(null),
    }),
  )
  .max(maxServers);

export const McpServer = z
  .object({
    name: z.string(),
    url: z.string(),
    headers: z.array(z.object({ name: z.string() })).meta({ description: 'values are never shown' }),
    tools,
  })
  .meta({ id: 'McpServer' });
