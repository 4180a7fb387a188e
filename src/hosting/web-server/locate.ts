import { type Found, lookInside } from '../site-files/open-inside.ts'
import {
  isDotPath,
  isHiddenFile,
  isNeverPublic,
  isNoSlug,
  isScriptLike,
  mayRun,
  queryOf,
  readPath,
} from './served-paths.ts'

/** Where the files of a site lie. */
export interface SiteFolders {
  /** The site directory, with `web/` in it. */
  readonly siteDirectory: string
  /** The core whose `wp-admin` and `wp-includes` are laid over the web root. */
  readonly corePath: string
  /** WordPress may run a network with sites in sub-directories: `/second/wp-admin/` is core's. */
  readonly isNetwork?: boolean
  /** Missing static files are not WordPress' to answer. */
  readonly hasLight404?: boolean
}

/** What a request's target means. */
export type Location =
  /** To be sent; `found` must be closed by whoever gets this. */
  | {
      readonly kind: 'file'
      readonly found: Found
      readonly name: string
      /** From the web root. */
      readonly path: string
    }
  /** To be run; the path is relative to the web root, with a leading slash. */
  | { readonly kind: 'script'; readonly script: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'refused'; readonly status: 400 | 403 | 404 }
  /** A static file that is not there, to be said in few bytes. */
  | { readonly kind: 'missing' }

const FRONT_CONTROLLER: Location = { kind: 'script', script: '/index.php' }
const MISSING: Location = { kind: 'missing' }
const refused = (status: 400 | 403 | 404): Location => ({ kind: 'refused', status })

/**
 * Decides what a request's target (`/path?query`) means on a site: a file of the web root, a PHP script (also with more path
 * behind it), a folder's index, and else WordPress' front controller.
 */
export function locate(site: SiteFolders, target: string): Location {
  const reading = readPath(target)
  if (reading.kind === 'malformed') return refused(400)
  if (reading.kind === 'foreign') return FRONT_CONTROLLER
  const { parts, trailingSlash } = reading
  if (isDotPath(parts) || isHidden(site, parts)) return refused(404)
  const location = locateParts(site, parts, trailingSlash, target)
  if (location !== FRONT_CONTROLLER || parts.length === 0) return location
  const inNetwork = site.isNetwork ? locateInNetwork(site, parts, trailingSlash, target) : undefined
  if (inNetwork) return inNetwork
  return site.hasLight404 && !trailingSlash && isLight404(parts.at(-1) as string) ? MISSING : FRONT_CONTROLLER
}

/**
 * Sites of a network in sub-directories have no files of their own: as in the rewrite rules that WordPress gives for one, a first
 * part that is a site's name is left out before core's folders, wp-content and scripts.
 */
function locateInNetwork(
  site: SiteFolders,
  parts: readonly string[],
  trailingSlash: boolean,
  target: string,
): Location | undefined {
  const [name, next] = parts
  if (!/^[_0-9a-zA-Z-]+$/.test(name as string) || next === undefined || !isOfCore(parts.slice(1))) return undefined
  // relative links of the dashboard need the slash, and the redirect the name
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

/** Files whose absence is answered without WordPress, where the site wants that. */
const LIGHT_404 = /\.(?:css|gif|eot|jpe?g|js|otf|png|svg|swf|ttf|web[mp]|woff2?)$/i

const isLight404 = (name: string): boolean => LIGHT_404.test(name)

function locateParts(site: SiteFolders, parts: readonly string[], trailingSlash: boolean, target: string): Location {
  if (parts.length === 0) return FRONT_CONTROLLER
  if (isNeverPublic(parts)) return refused(403)
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

/** A script that is there, or undefined. */
function scriptAt(site: SiteFolders, parts: readonly string[]): Location | undefined {
  const found = look(site, parts)
  found?.close()
  if (found?.kind !== 'file') return undefined
  return mayRun(parts) ? { kind: 'script', script: `/${parts.join('/')}` } : refused(403)
}

/** What a folder shows: index.php, else index.html, else nothing of its own (there are no listings). */
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
  // Written anew from the decoded parts: `//evil.test` in the target must not become an address of another host.
  return { kind: 'redirect', location: `/${parts.map(encodeURIComponent).join('/')}/${queryOf(target)}` }
}

/**
 * True for a file that must look as if it were not there, and for the name of one that is missing in a folder that is there: scanners
 * ask for those, and cost no PHP. Everything else with such a name is a page: `/wp-config-tips/`, `/wp-json/x/example.sh`.
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

/** Looks at a path of the web root as PHP sees it: core's own folders are laid over the site's. */
export function look(site: SiteFolders, parts: readonly string[]): Found | undefined {
  return OVERLAID.has(parts[0] as string)
    ? lookInside(site.corePath, parts.join('/'))
    : lookInside(site.siteDirectory, `web/${parts.join('/')}`)
}
