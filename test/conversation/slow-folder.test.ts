import type { ToolContext } from '../../src/conversation/tools/tool.ts';
import { callTool } from '../../src/conversation/tools.ts';
import { callReadTool } from '../../src/repositories/read-tools.ts';

// Whatever a model writes as arguments is translated on the event loop.
const slashes = `${'/'.repeat(200_000)}x`;
const soon = 1000;

async function took(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

test('the working folder of a command takes no quadratic time', async () => {
  const host = { call: async () => ({ ok: true, text: '' }) };
  const context = { host, offered: { hasShell: true, maySplit: false } } as unknown as ToolContext;
  const call = { id: '1', name: 'run_command', arguments: JSON.stringify({ command: 'ls', cwd: slashes }) };
  expect(await took(() => callTool(context, call))).toBeLessThan(soon);
});

test('the folder of a list of files in a chat takes no quadratic time', async () => {
  const call = { id: '1', name: 'glob', arguments: JSON.stringify({ pattern: '*', path: slashes }) };
  expect(await took(() => callReadTool(call, async () => ({ ok: true, text: '' })))).toBeLessThan(soon);
});
