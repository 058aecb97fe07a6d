import { safeLength } from '../domain/secrets/safe-length.ts';
import { withoutSecrets } from '../domain/secrets/without-secrets.ts';
import type { Room } from './room.ts';

/** How often new output becomes a line of the log. */
const pauseMs = 1000;
/** Characters in one line of the log. The log cuts longer lines. */
const lineChars = 2000;
/** Lines of output for one set-up. The rest is left out; the end of a failing command is always shown. */
const maxLines = 300;

/** Writes the output of commands into a log while they run. */
export interface LiveLog {
  hear(text: string): void;
  /** Writes what is left. @throws the error with which the log could not be written */
  flush(): Promise<void>;
}

/** Opens the live log of a set-up. No line contains one of the secrets, even if it was written in two pieces. */
export function openLiveLog(note: Room['note'], secrets: string[]): LiveLog {
  let waiting = '';
  let lines = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let failed: unknown;
  const write = (text: string) => {
    if (text.trim() === '' || lines > maxLines) return;
    lines += 1;
    const shown = lines > maxLines ? '[further output is not shown here]' : withoutSecrets(text, secrets);
    writing = writing
      .then(() => note('setup', shown, { isOutput: true }))
      .catch((error) => {
        failed ??= error;
      });
  };
  const send = (isLast: boolean) => {
    // Without a space for this long, the text is not ordinary output, and waiting longer would fill the memory.
    const length = isLast || waiting.length > 10 * lineChars ? waiting.length : safeLength(waiting, secrets);
    const text = waiting.slice(0, length);
    waiting = waiting.slice(length);
    // If too much output arrived for one line, only its newest part is logged.
    write(text.length <= lineChars ? text.trimEnd() : `[…]\n${text.trimEnd().slice(-lineChars + 10)}`);
  };
  return {
    hear: (text) => {
      waiting += text;
      timer ??= setTimeout(() => {
        timer = undefined;
        send(false);
      }, pauseMs);
    },
    flush: async () => {
      clearTimeout(timer);
      timer = undefined;
      send(true);
      await writing;
      if (failed !== undefined) throw failed;
    },
  };
}
