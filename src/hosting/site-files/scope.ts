import type { FileScope } from './file-content.ts'
import { comparePaths, isAtOrBelow } from './paths.ts'

/** Selects all files of a site. */
export const ALL: FileScope = { paths: [''] }

/**
 * The files with which Stead keeps its sites running: how this very site reaches its database. Backups include them.
 * Nothing that is copied from one site to another does.
 */
export const PLATFORM_FILES = [
  'wp-config.php',
  'wp-content/db.php',
  'wp-content/mu-plugins/sqlite-database-integration',
]

const CONTENT = 'wp-content'
const MU_PLUGINS = `${CONTENT}/mu-plugins`
const [THEMES, PLUGINS, UPLOADS] = ['themes', 'plugins', 'uploads'].map((name) => `${CONTENT}/${name}`) as [
  string,
  string,
  string,
]

/** The parts of a site that can be copied to another one, individually or together ({@link union}). */
export const syncScopes = {
  themes: { paths: [THEMES] },
  plugins: { paths: [PLUGINS] },
  uploads: { paths: [UPLOADS] },
  /** Also part of `content`. */
  'mu-plugins': { paths: [MU_PLUGINS], except: PLATFORM_FILES },
  /** wp-content without the three above. */
  content: { paths: [CONTENT], except: [THEMES, PLUGINS, UPLOADS, ...PLATFORM_FILES] },
  /** The web root without wp-content. */
  root: { paths: [''], except: [CONTENT, ...PLATFORM_FILES] },
} as const satisfies Record<string, FileScope>

/**
 * Returns a scope that includes everything that is in one of the scopes. An exception of one scope that is part of
 * another does not count.
 */
export function union(scopes: readonly FileScope[]): FileScope {
  const paths = scopes.flatMap((scope) => scope.paths)
  const excepted = scopes.flatMap((scope) => scope.except ?? [])
  const except = outermost(excepted.filter((path) => !scopes.some((scope) => isInScope(scope, path))))
  // A path inside another scope's exception includes that part again.
  const isApart = (path: string) => except.some((each) => isAtOrBelow(path, each))
  return { paths: outermost(paths, isApart), except }
}

/**
 * Returns whether a path is in scope. The entry with the nearest folder above it decides, and an exception wins a tie.
 */
export function isInScope({ paths, except = [] }: FileScope, path: string): boolean {
  return nearest(paths, path) > nearest(except, path)
}

/** Returns the length of the longest of the paths that this path is at or below, or -1 if there is none. */
function nearest(paths: readonly string[], path: string): number {
  let longest = -1
  for (const each of paths) if (each.length > longest && isAtOrBelow(path, each)) longest = each.length
  return longest
}

/** Returns whether a folder that is not in scope contains a path that is. */
export const leadsIntoScope = ({ paths }: FileScope, folder: string): boolean =>
  paths.some((each) => each !== folder && isAtOrBelow(each, folder))

/** Returns whether a folder contains an exception, so that it cannot be moved as a whole. */
export const holdsException = ({ except = [] }: FileScope, folder: string): boolean =>
  except.some((each) => isAtOrBelow(each, folder))

/** Sorts paths in the order of a walk, and drops those inside others that need no mention. */
export function outermost(paths: readonly string[], isApart: (path: string) => boolean = () => false): string[] {
  const sorted = [...new Set(paths)].sort(comparePaths)
  return sorted.filter((path) => isApart(path) || !sorted.some((other) => other !== path && isAtOrBelow(path, other)))
}
