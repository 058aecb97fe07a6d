import type { Said, Script } from '../../demo/model/model.ts';
import { hostileTitle } from './traffic.ts';

const forkBomb = "perl -e 'fork while 1'";
const memoryHog = 'node -e "const a = []; for (;;) a.push(Buffer.alloc(1e8, 1))"';
const diskHog = 'i=0; while true; do head -c 200000000 /dev/zero > fill$i || exit; i=$((i+1)); done';
const flood = 'timeout 5 yes';

const attacks = [forkBomb, memoryHog, flood, `timeout 20 sh -c '${diskHog}'`];

/** Writes a file, checks it and finishes. The hostile run first attacks the machine. */
export const siegeScript: Script = (request, turn): Said => {
  const text = JSON.stringify(request.messages);
  const attack = text.includes(hostileTitle) ? attacks[turn] : undefined;
  if (attack !== undefined) return [{ name: 'run_command', arguments: { command: attack, timeoutSeconds: 30 } }];
  if (!text.includes('wrote made.txt'))
    return [{ name: 'write_file', arguments: { path: 'made.txt', content: `made in turn ${turn}\n` } }];
  if (!text.includes('seen by a command'))
    return [{ name: 'run_command', arguments: { command: 'test -s made.txt && echo seen by a command' } }];
  return [{ name: 'finish', arguments: { summary: 'Made a file.', nextSteps: [] } }];
};
