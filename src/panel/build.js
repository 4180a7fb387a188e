// Builds the control panel when Stead is installed from its sources, so that nobody has to think of it. Without the packages that are for
// development alone there is nothing to build with: then Stead says so at its address.
const vite = await import('vite').catch(() => undefined)
if (vite) await vite.build({ configFile: new URL('./vite.config.ts', import.meta.url).pathname })
else console.error('The control panel is not built: install with the packages for development, then npm run panel')
