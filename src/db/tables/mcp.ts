import { json, key, table, text, whole } from './table.ts';

/** An MCP server of a project. */
export interface McpServerRow {
  projectId: string;
  name: string;
  /** The servers are shown and used in this order. */
  position: number;
  url: string;
  /** The tools to offer to agents; null for all. */
  tools: string[] | null;
  /** The ids of the repositories whose runs may use it; null for the only repository of the project. */
  repositories: string[] | null;
}
export const McpServers = table<McpServerRow>('mcp_servers', {
  projectId: key(),
  name: key(),
  position: whole(),
  url: text(),
  tools: json({ nullable: true }),
  repositories: json({ nullable: true }),
});

/** A header that is sent to an MCP server, its value encrypted. */
export interface McpHeaderRow {
  projectId: string;
  server: string;
  name: string;
  keyId: string;
  ciphertext: Buffer;
}
export const McpHeaders = table<McpHeaderRow>('mcp_headers', {
  projectId: key(),
  server: key(),
  name: key(),
  keyId: text(),
  ciphertext: { type: 'bytea' },
});
