// Requests /healthz of a service repeatedly. A second process measures the load of the machine: how much longer than
// its processor time a computation takes. When asked to stop, it reports the slowest reply and the highest load.
import { fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [url] = process.argv.slice(2);
const stopped = new Promise((resolve) => process.once('message', resolve));
let isOver = false;
stopped.then(() => {
  isOver = true;
});
process.once('disconnect', () => process.exit());

const measuredMs = 20;

async function slowness() {
  let worst = 1;
  while (!isOver) {
    const [began, used] = [performance.now(), process.cpuUsage()];
    let spent = 0;
    while (spent < measuredMs) {
      const { user, system } = process.cpuUsage(used);
      spent = (user + system) / 1000;
    }
    worst = Math.max(worst, (performance.now() - began) / spent);
    await sleep(100);
  }
  return { slowness: worst };
}

const agent = new Agent({ keepAlive: true });

function ask() {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const answered = (res) =>
      res.resume().on('end', () => {
        if (res.statusCode === 200) resolve(performance.now() - began);
        else reject(new Error(`/healthz answered ${res.statusCode}`));
      });
    request(`${url}/healthz`, { agent }, answered).on('error', reject).end();
  });
}

async function health() {
  let longest = 0;
  let answers = 0;
  for (; !isOver; answers++) {
    longest = Math.max(longest, await ask());
    await sleep(10);
  }
  return { longest, answers };
}

if (url === undefined) {
  process.send(await slowness(), () => process.exit());
} else {
  // A separate process, because its computation would delay the replies.
  const beside = fork(import.meta.filename);
  const measured = new Promise((resolve) => beside.once('message', resolve));
  process.send('ready');
  const seen = await health();
  beside.send('stop');
  process.send({ ...seen, ...(await measured) }, () => process.exit());
}
