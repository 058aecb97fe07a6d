import { SearchIcon } from '@primer/octicons-react';
import { IconButton } from '@primer/react';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { useLocation, useParams } from 'react-router';
import { useMay } from '../forms/may.tsx';
import { ariaKeys, useShortcuts } from '../keys/shortcuts.ts';
import { lazyPart } from '../live/load-part.ts';
import * as queries from '../live/queries.ts';
import { type Recent, remember } from './recent.ts';

const PaletteOfPage = lazyPart(async () => ({ default: (await import('./palette.tsx')).PaletteOfPage }));
const KeysDialog = lazyPart(async () => ({ default: (await import('../keys/keys-dialog.tsx')).KeysDialog }));

/** Shows the button that opens the command palette, and opens it and the list of shortcuts with their keys. */
export function Commands({ projectId, signOut }: { projectId: string | undefined; signOut(): void }) {
  const [open, setOpen] = useState<'palette' | 'keys'>();
  const [wasOpened, setOpened] = useState(false);
  const show = (which: 'palette' | 'keys') => {
    setOpen(which);
    if (which === 'palette') setOpened(true);
  };
  useShortcuts({ palette: () => show('palette'), keys: () => show('keys') });
  useVisits(projectId);
  const isMember = useMay('member');
  const close = (which: 'palette' | 'keys') => setOpen((now) => (now === which ? undefined : now));
  return (
    <>
      <IconButton
        icon={SearchIcon}
        aria-label="Search and commands"
        aria-keyshortcuts={ariaKeys('palette')}
        variant="invisible"
        onClick={() => show('palette')}
      />
      <Suspense>
        {wasOpened && (
          <PaletteOfPage
            projectId={projectId}
            isOpen={open === 'palette'}
            showKeys={() => show('keys')}
            signOut={signOut}
            onClose={() => close('palette')}
          />
        )}
        {open === 'keys' && <KeysDialog isMember={isMember} onClose={() => close('keys')} />}
      </Suspense>
    </>
  );
}

/** Remembers the projects and tasks that are opened, for the palette. */
function useVisits(projectId: string | undefined): void {
  const { data: me } = useQuery(queries.me());
  const { taskId } = useParams();
  const { pathname } = useLocation();
  const task = useQuery(queries.taskOfPage(taskId));
  const project = useQuery({ ...queries.project(projectId ?? ''), enabled: projectId !== undefined });
  const person = me?.id;
  const { title } = task.data ?? {};
  const { name } = project.data ?? {};
  useEffect(() => {
    const visit = (kind: Recent['kind'], id: string | undefined, text: string | undefined, to: string) => {
      if (person !== undefined && id !== undefined && text !== undefined)
        remember(localStorage, person, { id: `${kind} ${id}`, kind, text, to });
    };
    visit('project', projectId, name, `/projects/${projectId}`);
    if (pathname === `/tasks/${taskId}`) visit('task', taskId, title, pathname);
  }, [person, projectId, name, taskId, title, pathname]);
}
