import { existsSync, realpathSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The space for a page in the jail’s only writable folder, which is in memory. */
const TMP_BYTES = 512 << 20
/** A user ID of the jail only: below the users of sites, and not of an account that Debian creates. */
const UID = 65_533

/** The folders of programs, libraries, and fonts. Nothing in them belongs to Stead or is secret. */
const systemFolders = [
  '/usr',
  '/etc/fonts',
  '/etc/alternatives',
  '/etc/chromium',
  '/etc/chromium.d',
  '/etc/ld.so.cache',
]
const systemLinks = ['/bin', '/lib', '/lib64', '/sbin']

export interface JailPlan {
  readonly chromium: string
  /** The folder with the socket of the proxy. */
  readonly egressSocket: string
  /** The folder `node_modules` that contains Lighthouse. */
  readonly modules: string
  /** A folder with pictures that the runner reads. */
  readonly pictures?: string | undefined
  /** Options of the runner: what it opens, and what it does there. */
  readonly task: readonly string[]
}

/**
 * Returns the arguments of bubblewrap. The jail has a separate, empty network, sees programs and no data, and keeps
 * what it writes in memory. It ends with its first process, however that ends.
 */
export function jailArguments(plan: JailPlan, isRoot: boolean): string[] {
  const runner = fileURLToPath(new URL(`./runner${extname(import.meta.url)}`, import.meta.url))
  const inside = `/program/runner${extname(runner) === '.ts' ? '.mts' : '.mjs'}`
  const chromium = realpathSync(plan.chromium)
  const rights = isRoot
    ? ['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID']
    : ['--unshare-user', '--cap-drop', 'ALL']
  const folders = systemFolders.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path])
  const links = systemLinks
    .filter((path) => existsSync(path))
    .flatMap((path) =>
      realpathSync(path) === path ? ['--ro-bind', path, path] : ['--symlink', realpathSync(path), path],
    )
  return [
    ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try', ...rights],
    ...['--die-with-parent', '--new-session', '--clearenv', '--proc', '/proc', '--dev', '/dev'],
    ...['--setenv', 'HOME', '/tmp', '--setenv', 'PATH', '/usr/bin:/bin'],
    ...['--perms', '1777', '--size', String(TMP_BYTES), '--tmpfs', '/tmp'],
    ...[
      '--perms',
      '0755',
      '--dir',
      '/program',
      '--perms',
      '0755',
      '--dir',
      '/way-out',
      '--perms',
      '0755',
      '--dir',
      '/etc',
    ],
    ...folders,
    ...links,
    // A browser that was not installed by the system.
    ...(chromium.startsWith('/usr/') ? [] : ['--ro-bind', dirname(chromium), dirname(chromium)]),
    ...(plan.pictures === undefined ? [] : ['--ro-bind', plan.pictures, '/pictures']),
    ...['--ro-bind', runner, inside, '--ro-bind', plan.modules, '/program/node_modules'],
    ...['--ro-bind', process.execPath, '/program/node', '--bind', plan.egressSocket, '/way-out', '--chdir', '/tmp'],
    ...['/program/node', '--no-warnings', inside, ...plan.task],
    ...[`--chromium=${plan.chromium}`, ...(isRoot ? [`--uid=${UID}`] : [])],
  ]
}
