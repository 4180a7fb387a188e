import { disabledFunctions, type PhpLimits, phpIni } from '../wasm/ini.ts'
import type { NativePhp } from './native-php.ts'

/** Limits of one site's php-fpm. */
export interface FpmLimits {
  /**
   * Concurrent requests of one site. If more than one, one more is allowed for requests that the site sends to itself.
   */
  readonly atOnce: number
  /** An idle child ends after this time. */
  readonly idleSeconds: number
  /** A child ends after this many requests, which frees leaked memory. */
  readonly requests: number
}

export const defaultFpmLimits: FpmLimits = { atOnce: 4, idleSeconds: 10, requests: 500 }

/** A limit for requests that the host has lost track of. It ends all others much sooner. */
const longestSeconds = 7200

/** Paths inside the sandbox that are not part of a site. */
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
 * Address space of a process beyond PHP's own limit: libraries, memory shared between children, and reserves of the
 * allocator. A site can raise its `memory_limit`, but not this.
 */
const restOfAddressesMb = 400

/** Returns the limit for `ulimit -v`, in kB. */
export const mostAddressesKb = (mostPhpBytes: number): number => (mostPhpBytes >> 10) + restOfAddressesMb * 1024

/** Returns the php.ini of a site: that of php-wasm, as far as it applies. */
export function nativeIni(limits: PhpLimits): Record<string, string> {
  const { 'opcache.lockfile_path': _none, ...same } = phpIni(limits)
  return {
    ...same,
    auto_prepend_file: '/stead/native.php',
    // Does not search for paths after a script's name.
    'cgi.fix_pathinfo': '0',
    // It would report that PHP is free while it is not.
    disable_functions: `${disabledFunctions},fastcgi_finish_request,litespeed_finish_request`,
    'apc.enabled': '1',
    'apc.shm_size': `${apcuMb}M`,
    'opcache.enable_cli': '0',
  }
}

/** Formats a php.ini. */
export function iniText(php: NativePhp, entries: Readonly<Record<string, string>>): string {
  const loaded = php.extensions.map((name) => `${name === 'opcache' ? 'zend_extension' : 'extension'}=${name}.so`)
  const lines = Object.entries(entries).map(
    ([name, value]) => `${name}=${/^[\w./-]*$/.test(value) ? value : `"${value}"`}`,
  )
  return `${[...loaded, ...lines].join('\n')}\n`
}

/** Formats php-fpm's own configuration. */
export const fpmConfig = ({ atOnce, idleSeconds, requests }: FpmLimits): string =>
  [
    '[global]',
    'daemonize = no',
    // Logs to standard error, which the host reads (-O).
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
