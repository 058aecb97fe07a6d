// Stands for the polyfill of popovers; see `vite.config.ts`.
export const isSupported = () => true;
export const apply = () => {};
