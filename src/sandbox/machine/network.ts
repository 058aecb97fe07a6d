import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { RunFailed } from '../../domain/run.ts';
import { egressPort } from '../../domain/settings.ts';
import { holderLayout, hostFolder, socketInside } from '../layout.ts';
import { type SandboxedProcess, startSandboxed } from '../sandboxed-process.ts';
import { nodeInside, type SandboxParts } from './system.ts';

/** Far longer than a program takes to start on a busy machine. */
const startMs = 30_000;

/** A network namespace that commands share: they reach each other on localhost, and the egress proxy if there is one. */
export interface Network {
  /** The pid of the process that holds the namespace, as the host sees it. */
  holder: number;
  /** Why no command can start any more; undefined while the namespace exists. */
  lost(): RunFailed | undefined;
  /** Whether a process in the namespace listens on a TCP port. */
  isListening(port: number): boolean;
  close(): Promise<void>;
}

/**
 * Creates a network namespace. The process that holds it is the relay to the proxy's socket, or a process that sleeps.
 * It has a sandbox of its own, so commands can neither see nor signal it. It prints a line when it is ready: then the
 * loopback device is up, and the relay listens.
 * @throws RunFailed `sandbox`
 */
export async function openNetwork(parts: SandboxParts, egressSocket: string | undefined): Promise<Network> {
  const program =
    egressSocket === undefined
      ? ['/bin/sh', '-c', 'echo ready; exec sleep infinity']
      : [nodeInside(parts), `${hostFolder}/relay.mjs`, socketInside, String(egressPort)];
  const sandboxed = startSandboxed(parts, holderLayout(parts, egressSocket), program);
  let lost: RunFailed | undefined;
  const gone = endOf(sandboxed).then((why) => {
    lost = new RunFailed('sandbox', `the network of the sandbox ended: ${why}`);
    return lost;
  });
  const problem = await Promise.race([gone, readiness(sandboxed)]);
  const holder = await sandboxed.born;
  if (problem !== undefined || holder === undefined) {
    await sandboxed.end();
    throw problem ?? (await gone);
  }
  return {
    holder,
    lost: () => lost,
    isListening: (port) => listensIn(holder, port),
    close: () => sandboxed.end().then(() => {}),
  };
}

/** Looks into the kernel's table of sockets instead of connecting, which a server could take for a client. */
function listensIn(holder: number, port: number): boolean {
  const listening = new RegExp(`^ *\\d+: [0-9A-F]+:${port.toString(16).toUpperCase().padStart(4, '0')} \\S+ 0A `, 'm');
  return ['tcp', 'tcp6'].some((table) => {
    try {
      return listening.test(readFileSync(`/proc/${holder}/net/${table}`, 'utf8'));
    } catch {
      // The holder has ended, or there is no IPv6.
      return false;
    }
  });
}

/** Resolves when the holder is ready, or with an error when that takes too long. */
function readiness({ child }: SandboxedProcess): Promise<RunFailed | undefined> {
  return new Promise((resolve) => {
    const late = () => new RunFailed('sandbox', `the network of the sandbox was not ready within ${startMs / 1000} s`);
    const timer = setTimeout(() => resolve(late()), startMs).unref();
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).once('line', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

/** Resolves when the holder has ended, with the last line of its error output or how it ended. */
function endOf({ child }: SandboxedProcess): Promise<string> {
  return new Promise((resolve) => {
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      complaint = (complaint + chunk).slice(-1000);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, by) => resolve(complaint.trim().split('\n').pop() || (by ?? `code ${code}`)));
  });
}
