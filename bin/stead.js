#!/usr/bin/env node
// Finds a Node that can run Stead and starts Stead with it. Uses only JavaScript that Node 14 knows, because an old
// Node must still be able to print what to do.
import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED = [24, 18]
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const built = join(root, 'dist/src/main.js')
const main = existsSync(built) ? built : join(root, 'src/main.ts')

keepCompiledCode()
if (isEnough(process.versions.node)) runHere()
else handOver(ownNode())

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

/**
 * Lets every process of Stead reuse the code that an earlier one compiled: 255 MB instead of 301 for the four together,
 * and a start on 2.5 s of CPU instead of 4.4. The folder must not be writable by other users, because Stead runs its
 * content.
 */
function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE !== undefined) return
  const folder = cacheFolder()
  if (folder) process.env.NODE_COMPILE_CACHE = folder
}

function cacheFolder() {
  for (const folder of [join(root, 'node_modules'), dirname(root)])
    if (basename(folder) === 'node_modules' && isWritable(folder)) return join(folder, '.cache/stead')
  try {
    // Not `$HOME`: under sudo, it may belong to another user.
    const { homedir } = userInfo()
    return isWritable(homedir) ? join(homedir, '.cache/stead') : undefined
  } catch {
    return undefined
  }
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function runHere() {
  // The variable is for child processes. This process has started without it.
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  process.argv[1] = main
  endWithNpm(() => process.kill(process.pid, 'SIGTERM'))
  import(pathToFileURL(main).href).catch((error) => {
    console.error(error)
    process.exit(1)
  })
}

function handOver(node) {
  if (!node) {
    console.error(
      `Stead needs Node ${NEEDED.join('.')} or newer; this is Node ${process.versions.node} (${process.platform} ${process.arch}).\n${advice()}`,
    )
    process.exit(1)
  }
  const child = spawn(node, ['--max-semi-space-size=2', main].concat(process.argv.slice(2)), {
    // The pipe carries no data. Its end shows that this process is gone.
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: Object.assign({}, process.env, { STEAD_LAUNCHER_PIPE: '3' }),
  })
  if (child.stdio[3]) child.stdio[3].on('error', () => {})
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  endWithNpm(() => child.kill('SIGTERM'))
  child.on('error', (error) => {
    console.error(
      `Stead could not be started with ${node}: ${error.message}\nInstall Node ${NEEDED.join('.')} or newer: https://nodejs.org`,
    )
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else process.exit(code === null ? 1 : code)
  })
}

/**
 * npm passes a signal to its shell, which dies and leaves its children running. An npm that is killed passes it to no
 * one. So a Stead that npm started ends when one of the two is gone. A Stead started directly outlives its parent, as
 * with nohup.
 */
function endWithNpm(end) {
  if (process.env.npm_lifecycle_event === undefined) return
  const above = processesUpToNpm()
  const timer = setInterval(() => {
    if (process.ppid === above[0] && above.every((pid, n) => n === 0 || parentOf(above[n - 1]) === pid)) return
    clearInterval(timer)
    end()
  }, 500)
  timer.unref()
}

/** The ancestors of this process, parent first, up to npm or as far as they are visible. */
function processesUpToNpm() {
  const above = [process.ppid]
  while (above.length < 4) {
    const last = above[above.length - 1]
    if (isNpm(last)) return above
    const next = parentOf(last)
    if (!next) break
    above.push(next)
  }
  return above.slice(0, 1)
}

function isNpm(pid) {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.env.npm_node_execpath)
  } catch {
    return false
  }
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

function advice() {
  const install = 'Install a newer Node: https://nodejs.org'
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return install
  return `npm brings one along unless it is told to leave out optional packages:\n  npm install --include=optional\n${install.replace('Install', 'Or install')}`
}
