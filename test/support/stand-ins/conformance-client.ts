/** Does with our MCP client what the conformance suite expects of one. The suite appends the address of its server. */
import { mcpClient } from '../../../src/mcp/client.ts';
import { fetchFromMcp } from '../../../src/outgoing/fetch-from.ts';

const client = mcpClient({ url: process.argv.at(-1) ?? '', headers: {}, fetch: fetchFromMcp(async () => undefined) });
const { signal } = new AbortController();
const tools = (await client.listTools(signal)) as { name: string }[];
for (const { name } of tools) await client.callTool(name, name === 'add_numbers' ? { a: 5, b: 3 } : {}, signal);
await client.close();
