import type { ChildProcess } from 'node:child_process';
import { RunFailed } from '../domain/run.ts';
import { readPaced } from './command-output.ts';
import type { ToolAnswer } from './sandbox.ts';

/**
 * The longest response of a tool host: 30,000 characters, up to six times as long in JSON, and 1,000 for the other
 * fields.
 */
const maxLine = 6 * 30_000 + 1000;

/** Far longer than any file tool takes. */
const answerMs = 60_000;

/** Calls the tools of a tool host. Requests and responses are JSON objects, one per line. */
export interface HostClient {
  /** Calls a tool. @throws RunFailed `sandbox` when the tool host has ended */
  call(tool: string, args: object): Promise<ToolAnswer>;
}

export function hostClient(child: ChildProcess): HostClient {
  const waiting = new Map<number, { resolve: (answer: ToolAnswer) => void; reject: (error: Error) => void }>();
  let last = 0;
  let complaint = '';
  let gone: RunFailed | undefined;
  const end = (why: string) => {
    gone ??= new RunFailed('sandbox', `the tool host ended: ${complaint.trim().split('\n').pop() || why}`);
    for (const call of waiting.values()) call.reject(gone);
    waiting.clear();
    child.kill('SIGKILL');
  };
  child.once('error', (error) => end(error.message));
  child.once('exit', (code, by) => end(by ?? `code ${code}`));
  child.stdin?.on('error', () => {});
  readPaced([child.stderr], (chunk) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-2000);
  });
  let line = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (gone !== undefined) return;
    line += chunk;
    for (let at = line.indexOf('\n'); at >= 0; at = line.indexOf('\n')) {
      const answer = at > maxLine ? undefined : parseAnswer(line.slice(0, at));
      line = line.slice(at + 1);
      if (answer === undefined || !waiting.has(answer.id)) return end('it sent an answer that fits no call');
      waiting.get(answer.id)?.resolve({ ok: answer.ok, text: answer.text });
      waiting.delete(answer.id);
    }
    if (line.length > maxLine) end('it sent an answer that is too long');
  });
  return {
    call: (tool, args) => {
      if (gone !== undefined) return Promise.reject(gone);
      const id = ++last;
      const answer = new Promise<ToolAnswer>((resolve, reject) => waiting.set(id, { resolve, reject }));
      const timer = setTimeout(() => end(`${tool} did not answer within ${answerMs / 1000} s`), answerMs);
      const stop = () => clearTimeout(timer);
      answer.then(stop, stop);
      child.stdin?.write(`${JSON.stringify({ id, tool, args })}\n`);
      return answer;
    },
  };
}

function parseAnswer(line: string): (ToolAnswer & { id: number }) | undefined {
  try {
    const { id, ok, text } = JSON.parse(line) as Record<string, unknown>;
    if (typeof id === 'number' && typeof ok === 'boolean' && typeof text === 'string') return { id, ok, text };
  } catch {
    // Returns undefined, and the caller reports the malformed response.
  }
  return undefined;
}
