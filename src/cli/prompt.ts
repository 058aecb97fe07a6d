import type { Config } from '../config.ts';
import { promptLength } from '../runs/agent/context/fit-context.ts';
import { usualRatio } from '../runs/agent/context/memory.ts';
import { previewPrompt } from '../runs/agent/preview.ts';
import { withApp } from './with-app.ts';

/** Runs `prompt TASK`: prints what a run of the task would send to its model first, with an estimate of its tokens. */
export async function printPrompt(config: Config, args: string[]): Promise<number> {
  const [taskId, ...others] = args;
  if (taskId === undefined || others.length > 0)
    throw new Error('give the id of one task, e.g. npm run --silent prompt -- task_01h455vb4pex5vsknk084sn02q');
  return withApp(config, async (app) => {
    const { messages, tools } = await previewPrompt(app, taskId);
    const write = (text: string) => process.stdout.write(text);
    for (const { role, content } of messages) write(`===== ${role} =====\n${content}\n\n`);
    write(`===== tools =====\n${tools.map(({ name }) => name).join(', ')}\n\n===== length =====\n`);
    for (const message of messages) write(lengthLine(message.role, promptLength([message], [])));
    write(lengthLine('tools', promptLength([], tools)));
    write(lengthLine('together', promptLength(messages, tools)));
    write(`Tokens are an estimate: ${usualRatio} characters each. The model server counts its own.\n`);
    return 0;
  });
}

function lengthLine(name: string, chars: number): string {
  const tokens = Math.round(chars / usualRatio).toLocaleString('en-GB');
  return `${name}: ${chars.toLocaleString('en-GB')} characters, about ${tokens} tokens\n`;
}
