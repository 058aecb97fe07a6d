import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from '../sandbox.ts';

/** A program that the commands of a machine use, such as a database. */
export interface BackgroundService {
  run: string;
  /** The port on which it accepts connections when it is up. Without one, it is up when it has run for a second. */
  port?: number | undefined;
}

const [usualSeconds, settledSeconds, pauseMs] = [60, 1, 100];
/** Characters kept from the start and from the end of a service's output. */
const shownChars = 4000;
/** Longest part of a service's command in a message. */
const namedChars = 200;

/**
 * Starts services and waits until all are up. They run until the machine is closed. Returns what is wrong with one that
 * has ended or is not up in time, and its output; undefined when all are up.
 */
export async function startServices(
  machine: Machine,
  services: BackgroundService[],
  { signal, seconds = usualSeconds }: { signal: AbortSignal; seconds?: number },
): Promise<{ message: string; output: string } | undefined> {
  const waiting = services.map((service) => started(machine, service));
  for (;;) {
    const ended = waiting.find(({ end }) => end() !== undefined);
    if (ended !== undefined) return ended.problem(`is not up: ${ended.end()}`);
    const slow = waiting.filter(({ isUp }) => !isUp());
    if (slow.length === 0) return undefined;
    const late = slow.find(({ running }) => running.seconds() >= seconds);
    if (late !== undefined) return late.problem(`is not up: nothing listens on port ${late.port} after ${seconds} s`);
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function started(machine: Machine, { run, port }: BackgroundService) {
  const running = machine.start(run, shownChars);
  let end: string | undefined;
  void running.ended.then(({ how, exitCode }) => {
    end = exitCode === 0 ? `${how}; a service must stay in the foreground` : how;
  });
  return {
    port,
    running,
    /** How it ended; undefined while it runs. */
    end: () => end,
    isUp: () => (port === undefined ? running.seconds() >= settledSeconds : machine.isListening(port)),
    problem: (what: string) => ({
      message: `the service "${run.slice(0, namedChars)}" ${what}`,
      output: running.output().trimEnd() || '(none)',
    }),
  };
}
