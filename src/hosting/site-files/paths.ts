/** The rules for every copy of a site's files: names in folders, paths below a web root, and the targets of links. */

/** The longest path below the web root, in bytes. The system allows 4,096, minus PHP's own path to the web root. */
export const MOST_PATH_BYTES = 4000
/** The deepest path, in parts. Each level needs a descriptor while a tree is walked. */
export const MOST_PARTS = 200
const MOST_NAME_BYTES = 255

/** An entry to put in place, or a selection of entries, is invalid. The text may be shown to users. */
export class FilesRefused extends Error {
  override readonly name = 'FilesRefused'
}

/** Folders of the core. They are mounted over the web root, and are not part of the site's files. */
export const CORE_FOLDERS = ['wp-admin', 'wp-includes']

export const isCores = (path: string): boolean => CORE_FOLDERS.some((folder) => isAtOrBelow(path, folder))

/** Returns whether `path` is `folder` or is inside it. `''` is the root. */
export const isAtOrBelow = (path: string, folder: string): boolean =>
  folder === '' || path === folder || (path.startsWith(folder) && path[folder.length] === '/')

/** Returns the folder of a path, or `''` for an entry directly in the root. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

export const lastName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

export const join = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/**
 * Compares paths in the order of a walk: a folder, everything in it, then the next name. Names in one folder are in the
 * order of their UTF-8 bytes.
 */
export function comparePaths(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

const SLASH = 0x2f

/**
 * Ranks `/` before all others, so that a folder stays together. Halves of a surrogate pair come after all single units,
 * in the order of their bytes.
 */
function rank(unit: number): number {
  if (unit === SLASH) return -1
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** @throws FilesRefused for a path that is not below a web root, or belongs to the core */
export function checkPath(path: string): void {
  const refuse = (why: string): never => {
    throw new FilesRefused(`${JSON.stringify(path.slice(0, 100))}: ${why}`)
  }
  if (!path.isWellFormed() || path.includes('\0')) refuse('a path that is not text')
  const parts = path.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    refuse('a path that is not below the web root')
  const isLong = parts.length > MOST_PARTS || Buffer.byteLength(path) > MOST_PATH_BYTES
  if (isLong || parts.some((part) => Buffer.byteLength(part) > MOST_NAME_BYTES)) refuse('a path that is too long')
  if (isCores(path)) refuse('a path of the WordPress core')
}

/**
 * Returns whether a link stays in the site wherever the links on its way lead, if they all keep this rule. The target is
 * relative, and `..` comes only at its beginning, where the folders above it are real ones.
 */
export function staysInside(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0') || !target.isWellFormed()) return false
  if (Buffer.byteLength(target) > MOST_PATH_BYTES) return false
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const up = parts.findIndex((part) => part !== '..')
  const ups = up < 0 ? parts.length : up
  return ups < path.split('/').length && !parts.slice(ups).includes('..')
}
