import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin, UserConfig } from 'vite';

/** Leaves out Primer's polyfills of popovers and of `:focus-visible`, which every browser has had since April 2024. */
const withoutPolyfills: Plugin = {
  name: 'without-polyfills',
  enforce: 'pre',
  resolveId: (id) => (['@oddbird/popover-polyfill/fn', 'focus-visible'].includes(id) ? '\0no-polyfill' : undefined),
  load: (id) =>
    id === '\0no-polyfill' ? 'export const isSupported = () => true; export const apply = () => {};' : undefined,
};

/** In a worker, entities such as `&amp;` come from a table, because the variant for browsers asks the document of a page. */
const withoutDocument: Plugin = {
  name: 'without-document',
  enforce: 'pre',
  resolveId: (id) => (id === entities ? join(import.meta.dirname, '../../node_modules', id, 'index.js') : undefined),
};
const entities = 'decode-named-character-reference';

const primer = '../../node_modules/@primer';

/** Scripts and styles that may use a variable of Primer's themes. */
const users = [
  '**/*.{css,ts,tsx}',
  `${primer}/react/dist/**/*.{css,js}`,
  `${primer}/primitives/dist/css/{base,functional}/{motion,size,spacing,typography}/*.css`,
  `${primer}/primitives/dist/css/functional/themes/{light,dark}.css`,
];
/** Parts of Primer that we do not use. They mention most variables. */
const unused = /legacy-theme|experimental/;

/** Returns the names of variables that are used. Some end with `-`, because a script completes them: `--fgColor-${name}`. */
function usedVariables(): Set<string> {
  const files = users.flatMap((pattern) => globSync(pattern, { cwd: import.meta.dirname }));
  const texts = files
    .filter((file) => !unused.test(file))
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'));
  return new Set(texts.flatMap((text) => [...text.matchAll(/var\(\s*(--[\w-]+)/g)].map(([, name = '']) => name)));
}

export default {
  plugins: [withoutPolyfills],
  worker: { plugins: () => [withoutDocument] },
  css: {
    postcss: {
      plugins: [
        {
          // Without it, a third of all styles are variables of Primer's themes that nothing uses.
          postcssPlugin: 'without-unused-variables',
          OnceExit(root) {
            if (!root.source?.input.file?.includes('/@primer/primitives/')) return;
            const used = usedVariables();
            const prefixes = [...used].filter((name) => name.endsWith('-'));
            root.walkDecls(/^--/, (declaration) => {
              const { prop } = declaration;
              if (!used.has(prop) && !prefixes.some((prefix) => prop.startsWith(prefix))) declaration.remove();
            });
          },
        },
      ],
    },
  },
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
    rollupOptions: {
      // In bytes. A smaller file joins another one, because its headers would be larger than its text.
      output: { experimentalMinChunkSize: 1000 },
      // Ignore the directives for server rendering in libraries, because the dashboard does not use it.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
  esbuild: { jsx: 'automatic' },
} satisfies UserConfig;
