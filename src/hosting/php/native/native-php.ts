import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { PhpVersion } from '../runtime.ts'

const run = promisify(execFile)

/** A PHP installation of this machine, with everything that it needs in a sandbox. */
export interface NativePhp {
  readonly fpm: string
  readonly cli: string
  /** Extensions to load, in order of their dependencies. */
  readonly extensions: readonly string[]
  /** Files that it reads, each mounted at its own path. */
  readonly files: readonly string[]
  /** Whole folders, mounted in the same way. */
  readonly folders: readonly string[]
}

/**
 * In Debian's order. Excludes extensions that run programs, call foreign functions, or share memory with other
 * processes (pcntl, ffi, shmop, sysv*), and raw sockets.
 */
const wantedExtensions = [
  ...[
    'opcache',
    'mysqlnd',
    'pdo',
    'xml',
    'apcu',
    'bcmath',
    'calendar',
    'ctype',
    'curl',
    'dom',
    'exif',
    'fileinfo',
    'gd',
  ],
  ...['gettext', 'iconv', 'imagick', 'intl', 'mbstring', 'mysqli', 'pdo_mysql', 'pdo_sqlite', 'phar', 'simplexml'],
  ...['sqlite3', 'tokenizer', 'xmlreader', 'xmlwriter', 'xsl', 'zip'],
]

/** A site would behave differently without these. Maps each to its Debian package. */
const neededExtensions: Readonly<Record<string, string>> = {
  opcache: 'opcache',
  curl: 'curl',
  dom: 'xml',
  gd: 'gd',
  mbstring: 'mbstring',
  pdo_sqlite: 'sqlite3',
  zip: 'zip',
}

/** Where Debian's PHP looks for time zones, and the C library for character sets. */
const dataFolders = ['/usr/share/zoneinfo', '/usr/lib/x86_64-linux-gnu/gconv', '/usr/lib/aarch64-linux-gnu/gconv']

/** Changes the user in the sandbox. Nothing of it remains when PHP runs. */
export const userChanger = '/usr/bin/setpriv'

/**
 * Finds a PHP of this version as Debian installs it.
 * @param databases set when some databases are on MariaDB
 * @returns the reason when no suitable PHP is installed
 */
export async function findNativePhp(
  version: PhpVersion,
  databases?: object,
): Promise<NativePhp | { readonly missing: string }> {
  const [fpm, cli] = [`/usr/sbin/php-fpm${version}`, `/usr/bin/php${version}`]
  if (!existsSync(fpm)) return { missing: `${fpm} is not there (Debian's package php${version}-fpm)` }
  if (!existsSync(cli)) return { missing: `${cli} is not there (Debian's package php${version}-cli)` }
  try {
    const folder = (await run(cli, ['-n', '-r', 'echo PHP_EXTENSION_DIR;'], { env: {} })).stdout.trim()
    const has = (name: string) => existsSync(`${folder}/${name}.so`)
    const needed = { ...neededExtensions, ...(databases && { mysqli: 'mysql' }) }
    const lacking = Object.entries(needed).find(([name]) => !has(name))
    if (lacking) return { missing: `it lacks ${lacking[0]} (Debian's package php${version}-${lacking[1]})` }
    const extensions = wantedExtensions.filter(has)
    const programs = [fpm, cli, userChanger, ...extensions.map((name) => `${folder}/${name}.so`)]
    const data = dataFolders.filter((path) => existsSync(path))
    return { fpm, cli, extensions, files: [...programs, ...(await librariesOf(programs))], folders: data }
  } catch (error) {
    return { missing: (error as Error).message.split('\n')[0] as string }
  }
}

/** Returns the libraries that programs are linked with, at the paths where the loader looks for them. */
async function librariesOf(programs: readonly string[]): Promise<string[]> {
  const { stdout } = await run('ldd', [...programs], { env: { PATH: '/usr/bin:/bin' }, maxBuffer: 1 << 24 })
  const paths = stdout.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x/gm)
  return [...new Set([...paths].map(([, path]) => path as string))]
}
