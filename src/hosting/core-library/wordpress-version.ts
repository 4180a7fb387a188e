import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const pattern = /^(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:-(alpha|beta|RC)(\d{0,4})(?:-\d{1,8})?)?$/

/**
 * Returns whether the text is a version in WordPress' format: `6.8`, `6.8.7`, `6.9-beta1`, `6.9-RC2`. Such a text is a
 * safe file name.
 */
export const isVersion = (text: string): boolean => pattern.test(text)

/** Returns whether a version is a stable release, not a test version. */
export const isStable = (version: string): boolean => !version.includes('-')

/** Compares versions for sorting: negative when `a` is older than `b`. An invalid version counts as oldest. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)]
  const place = left.findIndex((part, index) => part !== right[index])
  return place === -1 ? 0 : left[place]! - right[place]!
}

function rank(version: string): number[] {
  const match = pattern.exec(version)
  if (!match) return [-1, 0, 0, 0, 0]
  const [, major, minor, patch, stage, count] = match
  const stageRank = stage ? ['alpha', 'beta', 'RC'].indexOf(stage) : 3
  return [Number(major), Number(minor), Number(patch ?? 0), stageRank, Number(count || 0)]
}

/**
 * Returns the version in `wp-includes/version.php` of an unpacked WordPress.
 * @throws Error when the file is missing or has no version in it
 */
export async function versionOf(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'wp-includes/version.php'), 'utf8').catch((cause) => {
    throw new Error('no WordPress in it (wp-includes/version.php is missing)', { cause })
  })
  const version = /^\$wp_version\s*=\s*'([^']+)';/m.exec(text)?.[1]
  if (!version || !isVersion(version)) throw new Error('wp-includes/version.php names no version')
  return version
}
