// Builds the control panel when Stead is installed from its sources, so that no extra command is needed. A built Stead
// does not need Vite and the panel's packages, so they are a workspace of their own (src/panel/package.json).
// `node src/panel/build.js components` builds the page of all components instead, and serves it until it is stopped.
import { fileURLToPath } from 'node:url'

const pathOf = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const configFile = pathOf('./vite.config.ts')
const vite = await import('vite').catch(() => undefined)
if (vite && process.argv[2] === 'components') {
  const components = {
    configFile,
    root: pathOf('./components'),
    build: { outDir: pathOf('../../node_modules/.cache/panel-components') },
  }
  await vite.build(components)
  const server = await vite.preview(components)
  console.log(server.resolvedUrls?.local[0])
} else if (vite) await vite.build({ configFile })
else console.error('The control panel is not built: run npm ci, then npm run panel')
