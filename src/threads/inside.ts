// The program of the threads that start-thread.ts starts. It loads one module and calls its functions, one at a time.
import { env, threadCpuUsage } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';

export interface Question {
  name: string;
  args: unknown[];
}

/** `isTooDeep` says that the function has used up the stack, `cpuMs` how much processor time the thread has taken. */
export type Answer = { cpuMs: number } & Result;

type Result = { value?: unknown } | { threw: string; isTooDeep?: boolean };

// Node has opened the compile cache by now, and the functions need no variables.
delete env.NODE_COMPILE_CACHE;

const port = parentPort;
if (port === null) throw new Error('this module must be started as a thread, by start-thread.ts');
const functions: Record<string, (...args: unknown[]) => unknown> = await import(workerData);

async function answer({ name, args }: Question): Promise<Result> {
  try {
    return { value: await functions[name]?.(...args) };
  } catch (error) {
    const { message } = error as Error;
    return { threw: message, isTooDeep: error instanceof RangeError && message.includes('call stack') };
  }
}

const send = (result: Result) => {
  const { user, system } = threadCpuUsage();
  port.postMessage({ ...result, cpuMs: (user + system) / 1000 } satisfies Answer);
};
port.on('message', async (question: Question) => send(await answer(question)));
// Reports that the module is loaded.
send({});
