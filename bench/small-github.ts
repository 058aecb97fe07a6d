import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveGit } from '../demo/github/git/git-server.ts';
import { serveLfs } from '../demo/github/git/lfs-server.ts';

/** Serves bare git repositories by name, with their files in Git LFS, and the part of GitHub's API that opening a pull request needs. */
export async function serve(bareOf: (name: string) => string | undefined) {
  let number = 0;
  const git = {
    find: async (name: string) => bareOf(name),
    beforeAdvertising: async () => {},
    push: (_name: string, _token: string, receive: () => Promise<Buffer>) => receive(),
  };
  const server = createServer(async (req, res) => {
    if (await serveGit(git, req, res)) return;
    if (await serveLfs({ find: git.find, mayPush: async () => true }, req, res)) return;
    const pull = {
      state: 'open',
      head: { sha: 'c'.repeat(40) },
      html_url: `http://x/${++number}`,
      number,
      draft: false,
    };
    const isList = req.method === 'GET' && /pulls\?/.test(req.url ?? '');
    const body = isList ? [] : req.method === 'POST' ? pull : { id: 1, private: false };
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
