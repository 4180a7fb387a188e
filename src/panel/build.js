// Builds the control panel when Stead is installed from its sources, so that no extra command is needed. Without the
// development packages it cannot build, and Stead says so at the panel's address. `node src/panel/build.js components`
// builds the page of all components instead, and serves it until it is stopped.
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
else console.error('The control panel is not built: install with the packages for development, then npm run panel')
