import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { imageSystem } from '../../src/sandbox/machine/image-system.ts';
import { openPlays, outputOf, run, see, start, users } from './plays.ts';

const { root, play, close } = openPlays();
afterAll(close);

const secret = join(root, 'secret');
writeFileSync(secret, 'a secret of the host\n');

let images = 0;
/** Creates the root of an image with a few programs of this machine and further files. Links start with `->`. */
function makeImage(files: Record<string, string>, programs = ['sh', 'cat', 'ls', 'grep']): string {
  const image = join(root, `image${images++}`);
  const libraries = programs.flatMap((name) => {
    const needs = execFileSync('/usr/bin/ldd', [`/bin/${name}`], { encoding: 'utf8' });
    return [...needs.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  });
  for (const path of new Set([...programs.map((name) => `/bin/${name}`), ...libraries])) {
    mkdirSync(dirname(join(image, path)), { recursive: true });
    copyFileSync(path, join(image, path));
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(image, path)), { recursive: true });
    if (content.startsWith('->')) symlinkSync(content.slice(2), join(image, path));
    else writeFileSync(join(image, path), content);
  }
  return image;
}

test.each(users)('commands of %s run on the root of an image, with our user and certificates', async (_who, as) => {
  const image = makeImage({
    'etc/passwd': 'root:x:0:0:other:/:/bin/x\nagent:x:7:7::/:\npostgres:x:70:70:for data:/var/lib/postgres:/bin/sh\n',
    'etc/hostname': 'builder\n',
    'etc/own.conf': 'own\n',
    'etc/ssl/certs/own.pem': 'own\n',
    'opt/tool/file': 'in opt\n',
    'home/other/file': 'at home\n',
    'srv/file': 'in srv\n',
    link: '->srv/file',
  });
  const env = { FROM: 'the image', OVER: 'the image', PATH: '/bin:/nowhere', HOME: '/root', USER: 'root' };
  const written = ['/x', '/etc/x', '/etc/own.conf', '/srv/file', '/opt/x', '/home/x'];
  const calls = [
    run('cat /etc/own.conf /opt/tool/file /home/other/file /srv/file /link'),
    run('ls /etc/hostname /usr/bin/node 2>&1 | grep -c "No such file"; ls /etc/ssl/certs'),
    run('echo "$FROM, $OVER, $PATH, $HOME, $USER, $SHELL"; cat a.txt; echo x > new.txt; ls -a /work | cat'),
    run('echo x > ~/new; echo y > /tmp/new; cat ~/new /tmp/new /etc/passwd /etc/resolv.conf'),
    run(`for f in ${written.join(' ')}; do (: >> $f) 2>/dev/null && echo $f; done; echo closed`),
    { run: 'one', tool: 'read_file', args: { path: 'new.txt' } },
  ];
  const played = await play(as, calls, { settings: { root: { root: image, env }, env: { OVER: 'the run' } } });
  const hasCertificates = existsSync('/etc/ssl/certs/ca-certificates.crt');
  expect(played?.answers.map(outputOf) ?? []).toEqual(
    played && [
      'own\nin opt\nat home\nin srv\nin srv\n',
      expect.stringMatching(hasCertificates ? /^2\n(.*\n)*ca-certificates\.crt\n/ : /^2\nown\.pem\n$/),
      'the image, the run, /home/agent/.local/bin:/bin:/nowhere, /home/agent, agent, /bin/sh\none\n.\n..\n.git\na.txt\nnew.txt\n',
      [
        'x\ny\nroot:x:0:0:root:/root:/bin/sh',
        'agent:x:1000:1000:agent:/home/agent:/bin/sh',
        'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
        'postgres:x:70:70:for data:/var/lib/postgres:/bin/sh',
        'options timeout:1 attempts:1\n',
      ].join('\n'),
      'closed\n',
      expect.stringContaining('x'),
    ],
  );
});

test.each(users)('links of an image lead nowhere on the host, for %s', async (_who, as) => {
  const image = makeImage({
    'etc/passwd': `->${secret}`,
    'etc/group': '->../../secret',
    'etc/own.conf': `->${secret}`,
    'etc/ssl': `->${root}`,
    opt: `->${root}`,
    home: '->../../..',
    work: `->${root}`,
    tmp: `->${root}`,
    proc: `->${root}`,
    dev: '->/dev/null',
    leak: `->${secret}`,
    up: '->../../../../../../../../..',
  });
  const paths = ['/etc/own.conf', '/leak', `/up${secret}`, `/proc/1/root${secret}`, '/opt/secret', '/tmp/secret'];
  const played = await play(
    as,
    [
      run(`cat ${paths.join(' ')} /home/secret /etc/ssl/secret 2>/dev/null; cat /etc/passwd /etc/group`),
      run('echo kept > ~/file; echo kept > /tmp/file; cat ~/file /tmp/file a.txt; ls / /opt /home /etc/ssl'),
    ],
    { settings: { root: { root: image, env: {} } } },
  );
  if (played === undefined) return;
  const [first, second] = played.answers.map(outputOf);
  expect(first).toMatch(/^root:x:0:0/);
  expect(first).not.toContain('secret');
  expect(second).toMatch(/^kept\nkept\none\n/);
  expect(second).not.toContain('secret');
});

test('an image with too many entries is refused', async () => {
  const many = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`etc/${i}`, '']));
  const message = 'the image has more than 500 files and folders in /, /etc, /etc/ssl, /home and /opt together';
  const refusal = { failure: expect.objectContaining({ category: 'setup', message }) };
  await expect(imageSystem({ root: makeImage(many), env: {} })).rejects.toMatchObject(refusal);
});

test('an image without a shell gives commands a clear end', async () => {
  const image = makeImage({}, ['cat']);
  const played = await play([], [run('true')], { settings: { root: { root: image, env: {} } } });
  expect(played?.answers.map(outputOf) ?? []).toEqual(played && ['bwrap: execvp /bin/sh: No such file or directory\n']);
});

/** A program that asks its C library who it is, and where names lead. */
const asker = `
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  struct passwd *user = getpwuid(getuid());
  struct addrinfo *found;
  printf("%s %s\\n", user ? user->pw_name : "nobody", user ? user->pw_dir : "nowhere");
  printf("localhost: %s\\n", getaddrinfo("localhost", "80", 0, &found) ? "unknown" : "known");
  printf("unknown.example: %s\\n", getaddrinfo("unknown.example", "80", 0, &found) ? "unknown" : "known");
}
`;

/** Creates the root of an image with another C library and loader than this machine's; a text says what is missing. */
function makeMuslImage(): { image: string } | string {
  const busybox = ['/usr/bin/busybox', '/bin/busybox'].find((path) => existsSync(path));
  // ldd fails for a program that needs no loader.
  if (busybox === undefined || spawnSync('ldd', [busybox]).status === 0) return 'busybox-static is not installed';
  const [source, program] = [join(root, 'asker.c'), join(root, 'asker')];
  writeFileSync(source, asker);
  const { status } = spawnSync('musl-gcc', ['-o', program, source]);
  if (status !== 0) return 'musl-gcc is not installed (musl-tools), or does not work (gcc)';
  const [loader] = /\/lib\/ld-musl-[\w-]+\.so\.1/.exec(readFileSync(program, 'latin1')) ?? [];
  if (loader === undefined) return 'musl-gcc made a program without a loader';
  const applets = ['sh', 'cat', 'ls', 'sleep'];
  const image = makeImage(Object.fromEntries(applets.map((name) => [`bin/${name}`, '->busybox'])), []);
  for (const [from, to] of [
    [busybox, 'bin/busybox'],
    [program, 'usr/bin/asker'],
    [loader, loader],
  ] as const) {
    mkdirSync(dirname(join(image, to)), { recursive: true });
    copyFileSync(from, join(image, to));
  }
  return { image };
}

const musl = makeMuslImage();
if (typeof musl === 'string') console.warn(`images with musl are not tested: ${musl}`);

(typeof musl === 'string' ? test.skip : test).each(users)(
  'commands of %s run on an image with musl',
  async (_who, as) => {
    if (typeof musl === 'string') return;
    const calls = [
      run('asker; echo "$USER $HOME $SHELL"; ls /lib /usr'),
      run('cat a.txt; echo x > new.txt; echo y > ~/new; cat new.txt ~/new'),
      start('server', 'echo up; sleep 60'),
      see('server', 'up'),
      { run: 'one', tool: 'stop_process', args: { name: 'server' } },
    ];
    const played = await play(as, calls, { settings: { root: { root: musl.image, env: {} } } });
    if (played === undefined) return;
    const [asked, wrote, , server] = played.answers.map(outputOf);
    expect(asked).toMatch(
      /^agent \/home\/agent\nlocalhost: known\nunknown\.example: unknown\nagent \/home\/agent \/bin\/sh\n\/lib:\nld-musl-\S+\n\n\/usr:\nbin\n$/,
    );
    expect([wrote, server]).toEqual(['one\nx\ny\n', 'up\n']);
  },
);
