import type { FlagsReadBy } from '../../site-flags.ts'
import { type Found, lookInside } from '../site-files/open-inside.ts'
import {
  isDotPath,
  isHiddenFile,
  isNeverServed,
  isNoSlug,
  isScriptLike,
  mayRun,
  queryOf,
  readPath,
} from './served-paths.ts'

/** Where the files of a site are. */
export interface SiteFolders extends FlagsReadBy<'host'> {
  /** The site directory, which contains `web/`. */
  readonly siteDirectory: string
  /** The core, whose `wp-admin` and `wp-includes` cover those of the web root. */
  readonly corePath: string
}

/** The meaning of a request's target. */
export type Location =
  /** A file to send. The receiver must close `found`. */
  | {
      readonly kind: 'file'
      readonly found: Found
      readonly name: string
      /** The path from the web root. */
      readonly path: string
    }
  /** A script to run. The path is relative to the web root, with a leading slash. */
  | { readonly kind: 'script'; readonly script: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'refused'; readonly status: 400 | 403 | 404 }
  /** A static file that does not exist. The answer is short. */
  | { readonly kind: 'missing' }

const FRONT_CONTROLLER: Location = { kind: 'script', script: '/index.php' }
const MISSING: Location = { kind: 'missing' }
const refused = (status: 400 | 403 | 404): Location => ({ kind: 'refused', status })

/**
 * Decides what a request's target (`/path?query`) means on a site: a file of the web root, a PHP script (possibly
 * followed by more path), a folder's index, or otherwise WordPress' front controller.
 */
export function locate(site: SiteFolders, target: string): Location {
  const reading = readPath(target)
  if (reading.kind === 'malformed') return refused(400)
  if (reading.kind === 'foreign') return FRONT_CONTROLLER
  const { parts, trailingSlash } = reading
  if (isDotPath(parts) || isHidden(site, parts)) return refused(404)
  const location = locateParts(site, parts, trailingSlash, target)
  if (location !== FRONT_CONTROLLER || parts.length === 0) return location
  const inNetwork = site.hasMultisite ? locateInNetwork(site, parts, trailingSlash, target) : undefined
  if (inNetwork) return inNetwork
  return site.hasLight404 && !trailingSlash && isLight404(parts.at(-1) as string) ? MISSING : FRONT_CONTROLLER
}

/**
 * Removes a site's name from the front of a path. Sites of a network in sub-directories have no separate files. As in
 * WordPress' rewrite rules for a network, a first part that is a site's name is dropped before the core's folders,
 * wp-content, and scripts.
 */
function locateInNetwork(
  site: SiteFolders,
  parts: readonly string[],
  trailingSlash: boolean,
  target: string,
): Location | undefined {
  const [name, next] = parts
  if (!/^[_0-9a-zA-Z-]+$/.test(name as string) || next === undefined || !isOfCore(parts.slice(1))) return undefined
  // Relative links of the dashboard need the slash, and the redirect needs the name.
  if (parts.length === 2 && next === 'wp-admin' && !trailingSlash)
    return { kind: 'redirect', location: `/${name}/wp-admin/${queryOf(target)}` }
  const rest = parts.slice(1)
  if (isHidden(site, rest)) return refused(404)
  const location = locateParts(site, rest, trailingSlash, target)
  if (location === FRONT_CONTROLLER) return undefined
  if (location.kind === 'redirect') return { kind: 'redirect', location: `/${name}${location.location}` }
  return location
}

const isOfCore = (parts: readonly string[]): boolean =>
  /^wp-(?:content|admin|includes)$/.test(parts[0] as string) || parts.some((part) => part.endsWith('.php'))

/** Files whose absence is answered without WordPress, if the site wants that. */
const LIGHT_404 = /\.(?:css|gif|eot|jpe?g|js|otf|png|svg|swf|ttf|web[mp]|woff2?)$/i

const isLight404 = (name: string): boolean => LIGHT_404.test(name)

function locateParts(site: SiteFolders, parts: readonly string[], trailingSlash: boolean, target: string): Location {
  if (parts.length === 0) return FRONT_CONTROLLER
  if (isNeverServed(parts)) return refused(403)
  const script = parts.findIndex((part) => part.endsWith('.php'))
  // `/index.php/a/b` runs index.php: the first part that is a PHP file ends the script's name.
  if (script >= 0 && (script < parts.length - 1 || trailingSlash))
    return scriptAt(site, parts.slice(0, script + 1)) ?? FRONT_CONTROLLER
  const found = look(site, parts)
  if (!found) return FRONT_CONTROLLER
  if (found.kind === 'directory') {
    found.close()
    return indexOf(site, parts, trailingSlash, target) ?? FRONT_CONTROLLER
  }
  const name = parts.at(-1) as string
  if (!trailingSlash && !isScriptLike(name)) return { kind: 'file', found, name, path: parts.join('/') }
  found.close()
  if (trailingSlash) return FRONT_CONTROLLER
  return mayRun(parts) ? { kind: 'script', script: `/${parts.join('/')}` } : refused(403)
}

/** Returns an existing script, or undefined. */
function scriptAt(site: SiteFolders, parts: readonly string[]): Location | undefined {
  const found = look(site, parts)
  found?.close()
  if (found?.kind !== 'file') return undefined
  return mayRun(parts) ? { kind: 'script', script: `/${parts.join('/')}` } : refused(403)
}

/** Returns what a folder shows: index.php, otherwise index.html, otherwise nothing, because Stead lists no folders. */
function indexOf(
  site: SiteFolders,
  parts: readonly string[],
  trailingSlash: boolean,
  target: string,
): Location | undefined {
  const script = scriptAt(site, [...parts, 'index.php'])
  const page = script ? undefined : look(site, [...parts, 'index.html'])
  if (!script && page?.kind !== 'file') {
    page?.close()
    return undefined
  }
  if (trailingSlash)
    return (
      script ?? { kind: 'file', found: page as Found, name: 'index.html', path: [...parts, 'index.html'].join('/') }
    )
  page?.close()
  // Built from the decoded parts, so that `//evil.test` in the target cannot become an address of another host.
  return { kind: 'redirect', location: `/${parts.map(encodeURIComponent).join('/')}/${queryOf(target)}` }
}

/**
 * Returns true for a file that must look as if it did not exist, and for a missing file of such a name in an existing
 * folder: scanners request those, and must cost no PHP. Everything else with such a name is a page: `/wp-config-tips/`,
 * `/wp-json/x/example.sh`.
 */
function isHidden(site: SiteFolders, parts: readonly string[]): boolean {
  if (!isHiddenFile(parts)) return false
  const found = look(site, parts)
  found?.close()
  if (found?.kind === 'file') return true
  if (!isNoSlug(parts.at(-1) as string)) return false
  if (found || parts.length === 1) return true
  const folder = look(site, parts.slice(0, -1))
  folder?.close()
  return folder?.kind === 'directory'
}

const OVERLAID = new Set(['wp-admin', 'wp-includes'])

/** Looks up a path of the web root as PHP sees it: the core's folders cover those of the site. */
export function look(site: SiteFolders, parts: readonly string[]): Found | undefined {
  return OVERLAID.has(parts[0] as string)
    ? lookInside(site.corePath, parts.join('/'))
    : lookInside(site.siteDirectory, `web/${parts.join('/')}`)
}
