import '@primer/primitives/dist/css/primitives.css';
import '@primer/primitives/dist/css/functional/themes/light.css';
import '@primer/primitives/dist/css/functional/themes/dark.css';
import './frame/frame.css';
import './display/display.css';
import './keys/keys.css';
import './display/markdown.css';
import './board/board.css';
import './tasks/task.css';
import './tasks/changes/changes.css';
import './chat/chat.css';
import './planning/planning.css';
import './agents/system-prompts.css';
import './environment/environment.css';
import { BaseStyles } from '@primer/react';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { defaults } from './api.ts';
import { removeOldDrafts } from './forms/stored-drafts.ts';
import { keepFocus } from './frame/keep-focus.ts';
import { loadAhead, watchNavigation } from './frame/navigation.ts';
import { Notices } from './frame/notices.tsx';
import { serviceInfo } from './frame/service-info.ts';
import { applyTheme } from './frame/theme.ts';
import { batching } from './live/batch.ts';
import { loadedOnline } from './live/load-part.ts';
import { client, prefetch, prefetchTask, signInAddress } from './live/query-client.ts';
import { routes } from './routes.tsx';

defaults.fetch = batching((input, init) => fetch(input, init));
applyTheme();
keepFocus(document);
removeOldDrafts(localStorage);
const { pathname } = window.location;
if (serviceInfo.hasSession || pathname === '/login') show();
else window.location.replace(signInAddress());

function show(): void {
  prefetch(pathname);
  loadAhead(document, routes, prefetchTask);
  createRoot(document.getElementById('root') as HTMLElement).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <BaseStyles>
          <RouterProvider router={watchNavigation(createBrowserRouter(loadedOnline(routes)))} />
          <Notices />
        </BaseStyles>
      </QueryClientProvider>
    </StrictMode>,
  );
}
