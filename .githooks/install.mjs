// Has Git use these hooks in a clone: `npm ci` runs it. Whatever happens, the installation goes through.
import { execFileSync } from 'node:child_process'
import { readdirSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const HOOKS = '.githooks'
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** Returns the output of Git, or nothing when it fails or is missing. */
function git(...args) {
  // a hook that runs npm has the variables of another repository's Git
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  try {
    return execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}

/** A copy of the sources inside another repository is not a clone of Stead. */
const isClone = () => {
  const top = git('rev-parse', '--show-toplevel')
  return top !== '' && realpathSync(top) === realpathSync(root)
}

/** Returns whether the clone has hooks of its own, which would no longer run with `core.hooksPath`. */
const hasOwnHooks = () =>
  readdirSync(resolve(root, git('rev-parse', '--git-path', 'hooks'))).some((name) => !name.endsWith('.sample'))

const quietly = (ask) => {
  try {
    return ask()
  } catch {
    return false
  }
}

if (quietly(isClone) && git('config', '--get', 'core.hooksPath') === '' && !quietly(hasOwnHooks))
  git('config', '--local', 'core.hooksPath', HOOKS)
