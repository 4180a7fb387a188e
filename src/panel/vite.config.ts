import { defineConfig } from 'vite'

/** Builds the panel. The browser loads only files from `dist/` beside it. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: { outDir: 'dist', emptyOutDir: true, modulePreload: false, assetsInlineLimit: 0 },
})
