import type { Probot } from 'probot';
import type { App } from '../app.ts';
import { nameOnGitHub } from '../repositories/credentials.ts';
import { findRepository } from '../repositories/store.ts';
import { handleCommands } from './handle-commands.ts';
import { endInstallation, type InstallationInfo, syncInstallation } from './installation.ts';
import { refreshPull } from './refresh-pull.ts';
import { findPullsByGitHub } from './store.ts';

/** What happens on which event. Handlers read the ids of a payload and look the rest up. */
export function registerWebhooks(probot: Probot, app: App): void {
  const sync = (installation: unknown, isNew = false) => syncInstallation(app, installation as InstallationInfo, isNew);
  probot.on('installation.created', ({ payload }) => sync(payload.installation, true));
  probot.on(['installation.unsuspend', 'installation.new_permissions_accepted'], ({ payload }) =>
    sync(payload.installation),
  );
  probot.on('installation.deleted', ({ payload }) => endInstallation(app, payload.installation.id, 'deleted'));
  probot.on('installation.suspend', ({ payload }) => endInstallation(app, payload.installation.id, 'suspended'));
  probot.on('installation_repositories', ({ payload }) => sync(payload.installation));

  probot.on('issue_comment.created', async ({ payload }) => {
    const { comment, issue, repository, installation, sender } = payload;
    if (installation === undefined) return;
    await handleCommands(app, {
      installationId: installation.id,
      repository,
      issue: {
        number: issue.number,
        title: issue.title,
        body: issue.body ?? '',
        url: issue.html_url,
        isPull: issue.pull_request !== undefined,
      },
      sender: personOf(sender),
      body: comment.body,
      commentId: comment.id,
    });
  });
  probot.on('issues.opened', async ({ payload }) => {
    const { issue, repository, installation, sender } = payload;
    if (installation === undefined) return;
    const { number, title, html_url } = issue;
    const body = issue.body ?? '';
    await handleCommands(app, {
      installationId: installation.id,
      repository,
      issue: { number, title, body, url: html_url, isPull: false },
      sender: personOf(sender),
      body,
      commentId: null,
    });
  });
  probot.on('pull_request', async ({ payload }) => {
    const { repository, pull_request } = payload;
    const installation = 'installation' in payload ? payload.installation : undefined;
    if (installation === undefined || app.github === undefined) return;
    for (const pull of await findPullsByGitHub(app.db.manager, repository.id, pull_request.number)) {
      const connected = await findRepository(app.db.manager, pull.repositoryId);
      const name = connected && nameOnGitHub(app, connected.url);
      if (name) await refreshPull(app, await app.github.asInstallation(installation.id), name, pull);
    }
  });
}

function personOf(sender: { id: number; login: string; type?: string; avatar_url?: string }) {
  const { id, login, type = 'User', avatar_url = '' } = sender;
  return { id, login, type, avatar_url };
}
