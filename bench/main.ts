// `npm run bench` measures speed, `npm run bench -- environment` only that of environments, `npm run bench -- waiting
// [count]` what many waiting runs cost. `npm run bench -- siege [scale] [quiet minutes]` tests the service under load and
// attacks, `npm run bench -- tenants [scale]` only under those of noisy tenants and strangers. `npm run bench -- scale [tasks] [seconds]` compares reads of a large database with
// those of a small one. `npm run bench -- run-page [entries] [seconds]` shows a long run in a browser while it grows.
// `npm run bench -- checkout [files] [objects]` compares what `checkout` of .deckhand.yml costs with git and git-lfs.
// `npm run bench -- corpus [name]` sets up repositories of many kinds and proves changes in them whose truth is known.
// `npm run bench -- proofs [name] [seconds]` compares what the check says of people's pull requests in the corpus with the
// truth, and its time with that of the tests, whose commands compute for some seconds before them.
// `npm run bench -- harvest [commits] [seed]` makes a benchmark of a history whose truth is known.
// `npm run bench -- fleet [runs] [seconds]` lets several processes work while PostgreSQL, they themselves, a clock and a disk fail,
// and GitHub is unreachable for some seconds.
// `npm run bench -- throughput [runs] [workers]` lets one worker, then several, carry out queued runs, and says what each costs;
// with STATEMENTS=1 also which statements.
// `npm run bench -- idle [seconds]` counts the transactions of two workers that have nothing to do.
// `npm run bench -- year [fraction] [days]` simulates what a company leaves in a year and a half, and how large the database becomes.
// `npm run bench -- dashboard [tasks] [factor]` measures the dashboard in Chromium.
const [name = 'speed', ...numbers] = process.argv.slice(2);
const benches: Record<string, () => Promise<void>> = {
  speed: async () => (await import('./speed.ts')).speed(),
  environment: async () => (await import('./environment/speed.ts')).environmentSpeed(),
  waiting: async () => (await import('./waiting.ts')).waitingSpeed(...numbers.map(Number)),
  scale: async () => (await import('./scale/main.ts')).scale(...numbers.map(Number)),
  'run-page': async () => (await import('./run-page.ts')).runPageSpeed(...numbers.map(Number)),
  dashboard: async () => (await import('./dashboard/main.ts')).dashboardSpeed(...numbers.map(Number)),
  tenants: async () => (await import('./siege/main.ts')).siegeOfTenants(...numbers.map(Number)),
  checkout: async () => (await import('./checkout/main.ts')).checkoutSpeed(...numbers.map(Number)),
  harvest: async () => (await import('./harvest/main.ts')).harvestOfKnown(...numbers.map(Number)),
  proofs: async () => (await import('./proofs.ts')).proofsOfPeople(...numbers),
  corpus: async () => (await import('./corpus/main.ts')).corpus(...numbers),
  year: async () => (await import('./year.ts')).year(...numbers.map(Number)),
  throughput: async () => (await import('./throughput.ts')).throughput(...numbers.map(Number)),
  idle: async () => (await import('./idle.ts')).idle(...numbers.map(Number)),
  fleet: async () => (await import('./fleet/main.ts')).fleet(...numbers.map(Number)),
  siege: async () => (await import('./siege/main.ts')).siege(...numbers.map(Number)),
};
const bench = benches[name];
if (bench === undefined) {
  process.stderr.write(`There is no bench ${name}. Choose one of: ${Object.keys(benches).join(', ')}.\n`);
  process.exitCode = 2;
} else await bench();
