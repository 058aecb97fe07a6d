import type { LoopContext } from '../../../src/conversation/loop.ts';
import { newMemory } from '../../../src/conversation/memory.ts';
import { limitsOfService } from '../../../src/domain/budget.ts';
import type { LimitSetter } from '../../../src/domain/run.ts';
import type { Message, Model, ModelAnswer, ReplyOptions, ToolCall } from '../../../src/llm/model.ts';
import type { ToolAnswer, ToolHost } from '../../../src/sandbox/sandbox.ts';

/** One turn of a scripted model: its calls, its text, a whole reply, or the error that it throws. */
export type Scripted = ToolCall[] | string | Partial<ModelAnswer> | Error;

let calls = 0;
export function call(name: string, args: object | string = {}): ToolCall {
  calls += 1;
  return { id: `call_${calls}`, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
}

export const finish = (summary = 'done', nextSteps: string[] = []) => call('finish', { summary, nextSteps });
export const read = (path: string) => call('read_file', { path });

/** Creates a model that follows a script and records the messages it received. */
function scriptedModel(script: Scripted[] | ((turn: number, prompt: Message[]) => Scripted)) {
  const seen: { messages: Message[]; tools: string[]; options: ReplyOptions | undefined }[] = [];
  const model: Model = {
    name: 'scripted',
    reply: async (messages, tools, signal, options) => {
      signal.throwIfAborted();
      seen.push({ messages: [...messages], tools: tools.map((t) => t.name), options });
      const turn = seen.length - 1;
      const next = typeof script === 'function' ? script(turn, messages) : script[turn];
      if (next === undefined) throw new Error('the script has no further turn');
      if (next instanceof Error) throw next;
      const given = typeof next === 'string' ? { text: next } : Array.isArray(next) ? { toolCalls: next } : next;
      return {
        text: '',
        toolCalls: [],
        inputTokens: 10,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: 2,
        isCut: false,
        ...given,
      };
    },
    window: () => undefined,
  };
  return { model, seen };
}

/** Creates tools that answer every call and record the calls. */
export function toolHost(answer: (tool: string, args: object) => ToolAnswer = () => ({ ok: true, text: 'fine' })) {
  const called: string[] = [];
  const host: ToolHost = {
    hasShell: true,
    call: async (tool, args) => {
      called.push(tool);
      return answer(tool, args);
    },
    restore: async () => {},
    mount: () => {},
    configure: () => {},
    machine: () => Promise.reject(new Error('no machine')),
    endProcesses: async () => [],
    close: async () => {},
  };
  return { host, called };
}

const generous = limitsOfService({
  runMinutes: 9,
  runSteps: 99,
  runTokens: 9999,
  runCostUsd: 9,
  dayCostUsd: 9,
});

/** Returns limits that are generous except for the steps. */
export function upToSteps(value: number, setBy: LimitSetter = 'service'): LoopContext['limits'] {
  return async () => ({ ...generous, runSteps: { value, setBy } });
}

interface KeptTurn {
  turn: Message[];
  changed: boolean;
  /** Set if the run waits for people after this turn. */
  wait?: Parameters<LoopContext['keep']>[3];
}

/** Creates a context for `converse` with a scripted model, generous limits, and a check that accepts every ending. */
export function loopContext(
  script: Scripted[] | ((turn: number, prompt: Message[]) => Scripted),
  more: Partial<LoopContext> = {},
) {
  const { model, seen } = scriptedModel(script);
  const { host, called } = toolHost();
  const kept: KeptTurn[] = [];
  const notes: string[] = [];
  const context: LoopContext = {
    model,
    host,
    offered: { hasShell: true, maySplit: true },
    signal: new AbortController().signal,
    limits: upToSteps(99),
    spent: async () => ({ steps: kept.length, tokens: 0, costUsd: 0, dayCostUsd: 0, minutes: 0 }),
    memory: newMemory(),
    hear: async () => [],
    hasMore: async () => false,
    keep: async (turn, _reply, changed, wait) => void kept.push({ turn: [...turn], changed, wait }),
    judge: async () => ({ accepted: true, evidence: { trees: {} } }),
    note: async (type, text) => void notes.push(`${type}: ${text}`),
    withoutSecrets: (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', '***')),
    ...more,
  };
  return { context, seen, called, kept, notes };
}
