import type { Plugin, UserConfig } from 'vite';

/** Leaves out Primer's polyfills of popovers and of `:focus-visible`, which every browser has had since April 2024. */
const withoutPolyfills: Plugin = {
  name: 'without-polyfills',
  enforce: 'pre',
  resolveId: (id) => (['@oddbird/popover-polyfill/fn', 'focus-visible'].includes(id) ? '\0no-polyfill' : undefined),
  load: (id) =>
    id === '\0no-polyfill' ? 'export const isSupported = () => true; export const apply = () => {};' : undefined,
};

export default {
  plugins: [withoutPolyfills],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    // A list of the files and their imports.
    manifest: true,
    target: 'es2023',
    // The Content-Security-Policy of the pages does not allow `data:` URLs for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    // Ignore the directives for server rendering in libraries, because the dashboard does not use it.
    rollupOptions: { onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning) },
  },
  esbuild: { jsx: 'automatic' },
} satisfies UserConfig;
