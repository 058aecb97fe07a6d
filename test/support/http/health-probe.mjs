// Requests /healthz of a service every 25 ms. When asked to stop, it reports how many answers came, and how many of them
// came late, that is, after the main thread of the service had worked for half a second. Arguments: the address of the
// service and the id of its process.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { mainThreadTime } from '../machine/processor-time.ts';

const [url, pid] = process.argv.slice(2);
const [intervalMs, lateMs] = [25, 500];
const stopped = new Promise((resolve) => process.once('message', resolve));
process.once('disconnect', () => process.exit());

const agent = new Agent({ keepAlive: true });

/**
 * Returns the processor time that the service used until it answered, in ms. Returns undefined if the service closed an
 * idle connection at the moment when it was used again, as may happen on a busy machine.
 */
function ask() {
  return new Promise((resolve, reject) => {
    const before = mainThreadTime(pid);
    const answered = (res) =>
      res.resume().on('end', () => {
        if (res.statusCode === 200) resolve(mainThreadTime(pid) - before);
        else reject(new Error(`/healthz answered ${res.statusCode}`));
      });
    const sent = request(`${url}/healthz`, { agent }, answered);
    sent.on('error', (error) =>
      sent.reusedSocket && error.code === 'ECONNRESET' ? resolve(undefined) : reject(error),
    );
    sent.end();
  });
}

const asked = [];
let isOver = false;
stopped.then(() => {
  isOver = true;
});
process.send('ready');
while (!isOver) {
  asked.push(ask());
  await sleep(intervalMs);
}
const times = (await Promise.all(asked)).filter((ms) => ms !== undefined);
process.send({ answers: times.length, late: times.filter((ms) => ms > lateMs).length }, () => process.exit());
