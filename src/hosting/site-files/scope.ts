import type { FileScope } from './file-content.ts'
import { comparePaths, isAtOrBelow } from './paths.ts'

/** All of a site's files. */
export const ALL: FileScope = { paths: [''] }

/**
 * What Stead keeps its sites running with: how this very site reaches its database. They go with a backup, and belong to nothing that is
 * taken from one site to another.
 */
export const PLATFORM_FILES = [
  'wp-config.php',
  'wp-content/db.php',
  'wp-content/mu-plugins/sqlite-database-integration',
]

const CONTENT = 'wp-content'
const [THEMES, PLUGINS, UPLOADS] = ['themes', 'plugins', 'uploads'].map((name) => `${CONTENT}/${name}`) as [
  string,
  string,
  string,
]

/** The parts of a site that can be taken to another one, by themselves or together ({@link union}). */
export const syncScopes = {
  themes: { paths: [THEMES] },
  plugins: { paths: [PLUGINS] },
  uploads: { paths: [UPLOADS] },
  /** wp-content without the three above. */
  content: { paths: [CONTENT], except: [THEMES, PLUGINS, UPLOADS, ...PLATFORM_FILES] },
  /** The web root without wp-content. */
  root: { paths: [''], except: [CONTENT, ...PLATFORM_FILES] },
} as const satisfies Record<string, FileScope>

/** What is in one of the scopes is in their union: an exception of one that is a part of another is none. */
export function union(scopes: readonly FileScope[]): FileScope {
  const paths = scopes.flatMap((scope) => scope.paths)
  const excepted = scopes.flatMap((scope) => scope.except ?? [])
  const except = outermost(excepted.filter((path) => !scopes.some((scope) => isInScope(scope, path))))
  // one in another's exception says that this part of it is meant
  const isApart = (path: string) => except.some((each) => isAtOrBelow(path, each))
  return { paths: outermost(paths, isApart), except }
}

/** Whether a path is meant: what names the nearest folder above it counts, and of both at once the exception. */
export function isInScope({ paths, except = [] }: FileScope, path: string): boolean {
  return nearest(paths, path) > nearest(except, path)
}

/** How long the longest of the paths is that this one is at or below; -1: there is none. */
function nearest(paths: readonly string[], path: string): number {
  let longest = -1
  for (const each of paths) if (each.length > longest && isAtOrBelow(path, each)) longest = each.length
  return longest
}

/** Whether something in a folder that is not meant itself is. */
export const leadsIntoScope = ({ paths }: FileScope, folder: string): boolean =>
  paths.some((each) => each !== folder && isAtOrBelow(each, folder))

/** Whether something in a folder is not meant: it cannot be moved as a whole. */
export const holdsException = ({ except = [] }: FileScope, folder: string): boolean =>
  except.some((each) => isAtOrBelow(each, folder))

/** In the order of a walk, without those that lie in others and need not be named. */
export function outermost(paths: readonly string[], isApart: (path: string) => boolean = () => false): string[] {
  const sorted = [...new Set(paths)].sort(comparePaths)
  return sorted.filter((path) => isApart(path) || !sorted.some((other) => other !== path && isAtOrBelow(path, other)))
}
