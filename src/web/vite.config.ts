import { fileURLToPath } from 'node:url';
import type { UserConfig } from 'vite';

// Primer brings polyfills of `:focus-visible` and of popovers, which every browser has had since April 2024.
const noPolyfill = fileURLToPath(new URL('./frame/no-polyfill.ts', import.meta.url));

export default {
  resolve: { alias: { '@oddbird/popover-polyfill/fn': noPolyfill, 'focus-visible': noPolyfill } },
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
