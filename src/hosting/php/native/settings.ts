import { disabledFunctions, type PhpLimits, phpIni } from '../wasm/ini.ts'
import type { NativePhp } from './machine.ts'

/** Bounds of one site's php-fpm. */
export interface FpmLimits {
  /** Requests that one site's PHP works on at once; where it is more than one, one more for what a site asks itself. */
  readonly atOnce: number
  /** A child that has nothing to do ends after it. */
  readonly idleSeconds: number
  /** A child ends after as many requests: what leaks is gone with it. */
  readonly requests: number
}

export const defaultFpmLimits: FpmLimits = { atOnce: 4, idleSeconds: 10, requests: 500 }

/** A bound for what the host has lost sight of. What it knows of, it ends much sooner by itself. */
const longestSeconds = 7200

/** Where things lie inside; nothing of it is part of a site. */
export const inside = {
  listening: '/run/listen',
  settings: '/run/stead',
  fpmSocket: '/run/listen/fpm',
  hostSocket: '/run/stead/host',
  fpmConfig: '/run/stead/fpm.conf',
  ini: '/run/stead/php.ini',
} as const

const apcuMb = 32

/**
 * What a process may have of addresses beyond what PHP itself is allowed: its libraries, the memory that its children share and
 * what the allocator sets aside. A site can lift its `memory_limit`, and not this.
 */
const restOfAddressesMb = 400

/** For `ulimit -v`, in kB. */
export const mostAddressesKb = (mostPhpBytes: number): number => (mostPhpBytes >> 10) + restOfAddressesMb * 1024

/** php.ini of a site: what php-wasm is given, where it means something here. */
export function nativeIni(limits: PhpLimits): Record<string, string> {
  const { 'opcache.lockfile_path': _none, ...same } = phpIni(limits)
  return {
    ...same,
    auto_prepend_file: '/stead/native.php',
    // paths behind a script's name are not looked for
    'cgi.fix_pathinfo': '0',
    // it would say that PHP is free while it is not
    disable_functions: `${disabledFunctions},fastcgi_finish_request,litespeed_finish_request`,
    'apc.enabled': '1',
    'apc.shm_size': `${apcuMb}M`,
    'opcache.enable_cli': '0',
  }
}

/** The text of a php.ini. */
export function iniText(php: NativePhp, entries: Readonly<Record<string, string>>): string {
  const loaded = php.extensions.map((name) => `${name === 'opcache' ? 'zend_extension' : 'extension'}=${name}.so`)
  const lines = Object.entries(entries).map(
    ([name, value]) => `${name}=${/^[\w./-]*$/.test(value) ? value : `"${value}"`}`,
  )
  return `${[...loaded, ...lines].join('\n')}\n`
}

/** The text of php-fpm's own settings. */
export const fpmConfig = ({ atOnce, idleSeconds, requests }: FpmLimits): string =>
  [
    '[global]',
    'daemonize = no',
    // to standard error, which is the host's (-O)
    'error_log = /dev/null',
    'log_level = notice',
    '[site]',
    `listen = ${inside.fpmSocket}`,
    'listen.backlog = 128',
    'pm = ondemand',
    `pm.max_children = ${atOnce > 1 ? atOnce + 1 : 1}`,
    `pm.process_idle_timeout = ${idleSeconds}s`,
    `pm.max_requests = ${requests}`,
    `request_terminate_timeout = ${longestSeconds}s`,
    'clear_env = yes',
    'catch_workers_output = no',
    'security.limit_extensions = .php',
    '',
  ].join('\n')
