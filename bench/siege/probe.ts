// Requests /healthz twenty times a second and records the response times. It is a separate process so that the bench's
// load does not distort them. The argument is the service's URL. To each message of the parent it replies with the
// times since the previous message.
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [address = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
let times: number[] = [];
let failures = 0;

function ask(): Promise<void> {
  const from = performance.now();
  return new Promise((resolve) => {
    const asked = get(`${address}/healthz`, { agent, timeout: 10_000 }, (answer) => {
      answer.resume().on('end', () => {
        times.push(performance.now() - from);
        if (answer.statusCode !== 200) failures++;
        resolve();
      });
    });
    asked.on('timeout', () => asked.destroy(new Error('timed out')));
    asked.on('error', () => {
      failures++;
      times.push(performance.now() - from);
      resolve();
    });
  });
}

process.on('message', () => {
  process.send?.({ times, failures });
  times = [];
  failures = 0;
});
process.on('disconnect', () => process.exit(0));
for (;;) {
  await ask();
  await sleep(50);
}
