#!/usr/bin/env node
// Finds a Node that can run Stead and hands everything over to it. Plain JavaScript: this file runs on old Nodes too.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED = [24, 18]
const root = join(dirname(fileURLToPath(import.meta.url)), '..')

function isEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

/** The Node that npm installed beside Stead, if there is one for this machine. */
function ownNode() {
  const require = createRequire(import.meta.url)
  try {
    const folder = dirname(require.resolve(`node-${process.platform}-${process.arch}/package.json`))
    const file = join(folder, 'bin/node')
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

const built = join(root, 'dist/src/main.js')
const main = existsSync(built) ? built : join(root, 'src/main.ts')

if (isEnough(process.versions.node)) {
  process.argv[1] = main
  await import(pathToFileURL(main).href)
} else handOver(ownNode())

function handOver(node) {
  if (!node) {
    console.error(
      `Stead needs Node ${NEEDED.join('.')} or newer; this is Node ${process.versions.node} (${process.platform} ${process.arch}).\n` +
        'Run npm ci (it brings one along for Linux on x64 and arm64), or install a newer Node from https://nodejs.org.',
    )
    process.exit(1)
  }
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`Stead could not be started with ${node}: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else process.exit(code ?? 1)
  })
}
