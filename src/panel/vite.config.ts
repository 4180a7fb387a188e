import { defineConfig } from 'vite'

/** Builds the panel: what a browser gets is in `dist/` beside it, and nothing else is needed to serve it. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: { outDir: 'dist', emptyOutDir: true, modulePreload: false, assetsInlineLimit: 0 },
})
