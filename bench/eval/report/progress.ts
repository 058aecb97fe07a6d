import type { Loop } from '../results/result.ts';

/** What one run is doing. */
interface Active {
  loop: Loop;
  task: string;
  since: number;
  state: string;
}

/** Tells people what an evaluation is doing while no run ends for a while, as when all of them wait for their model. */
export interface Progress {
  /** Follows a run until it ends. The run says what it is doing through `tell`. */
  follow<T>(loop: Loop, task: string, run: (tell: (state: string) => void) => Promise<T>): Promise<T>;
  /** Prints a line about a run that ended. */
  say(line: string): void;
  /** Prints what the runs are doing, unless another line was printed since the last call. */
  remind(): void;
}

/** @param now returns the time in milliseconds */
export function openProgress(print: (line: string) => void, now: () => number = () => performance.now()): Progress {
  const active = new Set<Active>();
  let isSilent = true;
  return {
    follow: async (loop, task, run) => {
      const own: Active = { loop, task, since: now(), state: 'beginning' };
      active.add(own);
      try {
        return await run((state) => {
          own.state = state;
        });
      } finally {
        active.delete(own);
      }
    },
    say: (line) => {
      isSilent = false;
      print(line);
    },
    remind: () => {
      if (isSilent && active.size > 0)
        print(`       now: ${[...active].map((each) => described(each, now())).join('; ')}`);
      isSilent = true;
    },
  };
}

function described({ loop, task, since, state }: Active, now: number): string {
  return `${loop} ${task}: ${state} (${Math.round((now - since) / 1000)} s)`;
}
