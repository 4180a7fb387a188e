import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { SITES_SOCKET_FOLDER } from '../../mariadb/server/database-server.ts'
import { sandboxOptions } from '../wasm/containment.ts'
import { inside } from './fpm-settings.ts'
import { type NativePhp, userChanger } from './native-php.ts'
import type { NativeProgram } from './program.ts'

/** Contents of one sandbox. */
export interface Sandbox {
  readonly php: NativePhp
  /** One folder with PHP's files. Undefined when they are mounted one by one. */
  readonly phpFiles?: string | undefined
  readonly siteDirectory: string
  readonly core: string
  /** User that PHP runs as. Null for Stead's own. */
  readonly uid: number | null
  /** Stead's PHP files and PHP's `/etc`. */
  readonly program: NativeProgram
  /** Settings of this one process, and its socket for messages to the host. */
  readonly settings: string
  /** Folder in which php-fpm creates its socket. */
  readonly listening?: string | undefined
  readonly isReadOnly: boolean
  /** Folder with the socket of the site's database server. */
  readonly databaseSocket?: string | undefined
  /** Folder that PHP sees as `/command`. */
  readonly programs?: string | undefined
  readonly environment: Readonly<Record<string, string>>
}

const cacheBytes = 64 << 20
/** Descriptor on which bubblewrap reports the process that it has created (`spawnSandbox`). */
const madeFd = 3

/**
 * Returns the arguments of bubblewrap up to PHP's own. The same folders are at the same paths as for php-wasm, so that
 * a site can change its runtime. Of the machine's programs, it contains only PHP with its libraries and the program
 * that changes the user, but no shell.
 */
export function sandboxArguments(sandbox: Sandbox): string[] {
  const { siteDirectory: directory, core, program, settings, listening, programs, uid, databaseSocket } = sandbox
  const bind = sandbox.isReadOnly ? '--ro-bind' : '--bind'
  const mounts: string[][] = [
    ...phpMounts(sandbox),
    ['--ro-bind', program.certificates, '/etc/ssl/certs'],
    ...['hosts', 'resolv.conf', 'nsswitch.conf'].map((name) => ['--ro-bind', `${program.etc}/${name}`, `/etc/${name}`]),
    ['--ro-bind', program.php, '/stead'],
    ['--ro-bind', settings, inside.settings],
    ...(listening ? [['--bind', listening, inside.listening]] : []),
    [bind, `${directory}/web`, '/wordpress'],
    ['--ro-bind', `${core}/wp-admin`, '/wordpress/wp-admin'],
    ['--ro-bind', `${core}/wp-includes`, '/wordpress/wp-includes'],
    [bind, `${directory}/private`, '/private'],
    [bind, `${directory}/private/tmp`, '/tmp'],
    ...(programs ? [['--ro-bind', programs, '/command']] : []),
    ...(databaseSocket ? [['--ro-bind', databaseSocket, SITES_SOCKET_FOLDER]] : []),
  ]
  const cache = ['--perms', '1777', '--size', String(cacheBytes), '--tmpfs', '/stead-cache']
  const user =
    uid !== null ? [userChanger, `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all', '--'] : []
  return [
    // Its network exists already (networks.ts).
    ...sandboxOptions(true).filter((option) => option !== '--unshare-net'),
    ...['--info-fd', String(madeFd)],
    ...Object.entries(sandbox.environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...foldersAbove(mounts.map((mount) => mount[2] as string)),
    ...mounts.flat(),
    ...cache,
    ...['--chdir', '/wordpress'],
    ...user,
  ]
}

function phpMounts({ php, phpFiles }: Sandbox): string[][] {
  const tops = new Set(php.files.map((path) => path.split('/')[1] as string))
  const files = phpFiles
    ? [...tops].map((top) => ['--ro-bind', `${phpFiles}/${top}`, `/${top}`])
    : php.files.map((path) => ['--ro-bind', realpathSync(path), path])
  return [...files, ...php.folders.map((path) => ['--ro-bind', realpathSync(path), path])]
}

/** By default, bubblewrap creates the folders above a mount for its own user only. */
function foldersAbove(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths) {
    const above: string[] = []
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) above.unshift(folder)
    for (const folder of above) if (!paths.includes(folder)) folders.add(folder)
  }
  return [...folders].flatMap((folder) => ['--perms', '0755', '--dir', folder])
}
