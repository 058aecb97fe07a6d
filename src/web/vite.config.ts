import type { UserConfig } from 'vite';

export default {
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the pages allows no data: in scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    // Libraries mark their files for servers that render; there is none here.
    rollupOptions: { onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning) },
  },
  esbuild: { jsx: 'automatic' },
} satisfies UserConfig;
