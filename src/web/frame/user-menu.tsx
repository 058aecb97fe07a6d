import { ActionList, ActionMenu, Avatar } from '@primer/react';
import { useState } from 'react';
import { Link } from 'react-router';
import { notifyError } from './notices.tsx';
import { forgetPerson } from './personal-storage.ts';

export function UserMenu({ login, avatarUrl }: { login: string; avatarUrl: string }) {
  const [isBroken, setBroken] = useState(avatarUrl === '');
  return (
    <ActionMenu>
      <ActionMenu.Anchor>
        <button type="button" className="user-button" aria-label={`Signed in as ${login}`}>
          {isBroken ? (
            <span className="user-initial">{login.slice(0, 1)}</span>
          ) : (
            <Avatar src={avatarUrl} alt="" onError={() => setBroken(true)} />
          )}
        </button>
      </ActionMenu.Anchor>
      <ActionMenu.Overlay align="end">
        <ActionList>
          <ActionList.LinkItem as={Link} to="/settings/tokens">
            API tokens
          </ActionList.LinkItem>
          <ActionList.LinkItem href="/api/v1/docs/">API documentation</ActionList.LinkItem>
          <ActionList.Divider />
          <ActionList.Item onSelect={signOut}>Sign out</ActionList.Item>
        </ActionList>
      </ActionMenu.Overlay>
    </ActionMenu>
  );
}

async function signOut(): Promise<void> {
  try {
    const { type, ok } = await fetch('/logout', { method: 'POST', redirect: 'manual' });
    if (type !== 'opaqueredirect' && !ok) throw new Error('Signing out failed. You are still signed in. Try again.');
    // The next person who uses this browser must not see the chats and drafts.
    sessionStorage.clear();
    forgetPerson(localStorage);
    window.location.assign('/login');
  } catch (error) {
    notifyError(error);
  }
}
