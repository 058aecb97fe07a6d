import { findByName } from '../../../llm/calls/declaration.ts';
import { readObject } from '../../../llm/calls/fit-arguments.ts';
import type { Message } from '../../../llm/model.ts';
import { readTools } from '../../../repositories/read-tools.ts';
import type { ToolHost } from '../../../sandbox/sandbox.ts';
import { commandTools } from './command-tools.ts';

/**
 * Wraps the tools of a worker that continues a conversation. Background processes ended with the earlier worker, and the
 * first result of a tool that is not only reading says so. It is part of the result, so it is stored with the turn.
 */
export function tellingOfLostProcesses(host: ToolHost, messages: Message[]): ToolHost {
  let lost = startedProcesses(messages);
  if (lost.length === 0) return host;
  return {
    ...host,
    call: async (tool, args) => {
      const answer = await host.call(tool, args);
      if (lost.length === 0 || Object.hasOwn(readTools, tool)) return answer;
      const notice = `[another worker continues this run, so these processes have ended: ${lost.join(', ')}; start them again if you need them]`;
      lost = [];
      return { ...answer, text: `${notice}\n${answer.text}` };
    },
  };
}

const endedOpening = 'All processes ended before your change was read: ';

/** Tells the agent which of its processes a judgement ended. It is stored with the objection. */
export function endedNotice(names: string[]): string {
  return `${endedOpening}${names.join(', ')}. Start them again if you need them.`;
}

/** Returns the names of the processes that a conversation started, and that nothing has ended since. */
function startedProcesses(messages: Message[]): string[] {
  const ended = messages.findLastIndex((m) => m.role === 'user' && m.content.includes(endedOpening));
  const calls = messages.slice(ended + 1).flatMap((m) => (m.role === 'assistant' ? m.toolCalls : []));
  const started = new Set<string>();
  for (const { name, arguments: text } of calls) {
    const tool = findByName(commandTools, name);
    if (tool !== 'start_process' && tool !== 'stop_process') continue;
    const read = readObject(text, {});
    const process = read.ok && typeof read.value.name === 'string' ? read.value.name.trim() : 'a process';
    if (tool === 'start_process') started.add(process);
    else started.delete(process);
  }
  return [...started];
}
