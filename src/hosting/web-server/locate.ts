import { type Found, lookInside } from '../site-files/open-inside.ts'
import { isHidden, isScriptLike, mayRun, queryOf, readPath } from './served-paths.ts'

/** Where the files of a site lie. */
export interface SiteFolders {
  /** The site's home, with `web/` in it. */
  readonly homePath: string
  /** The core whose `wp-admin` and `wp-includes` are laid over the web root. */
  readonly corePath: string
}

/** What a request's target means. */
export type Location =
  /** To be sent; `found` must be closed by whoever gets this. */
  | { readonly kind: 'file'; readonly found: Found; readonly name: string }
  /** To be run; the path is relative to the web root, with a leading slash. */
  | { readonly kind: 'script'; readonly script: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'refused'; readonly status: 400 | 403 | 404 }

const FRONT_CONTROLLER: Location = { kind: 'script', script: '/index.php' }
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
  if (isHidden(parts)) return refused(404)
  if (parts.length === 0) return FRONT_CONTROLLER
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
  if (!trailingSlash && !isScriptLike(name)) return { kind: 'file', found, name }
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
  if (trailingSlash) return script ?? { kind: 'file', found: page as Found, name: 'index.html' }
  page?.close()
  // Written anew from the decoded parts: `//evil.test` in the target must not become an address of another host.
  return { kind: 'redirect', location: `/${parts.map(encodeURIComponent).join('/')}/${queryOf(target)}` }
}

const OVERLAID = new Set(['wp-admin', 'wp-includes'])

/** Looks at a path of the web root as PHP sees it: core's own folders are laid over the site's. */
function look(site: SiteFolders, parts: readonly string[]): Found | undefined {
  return OVERLAID.has(parts[0] as string)
    ? lookInside(site.corePath, parts.join('/'))
    : lookInside(site.homePath, `web/${parts.join('/')}`)
}
