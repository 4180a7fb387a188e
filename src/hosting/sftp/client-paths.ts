import { CORE_FOLDERS, isCores, MOST_PARTS, MOST_PATH_BYTES } from '../site-files/paths.ts'
import { Refused } from './refused.ts'

const MOST_NAME_BYTES = 255

/**
 * Converts a client's path to one below the web root. `''` is the root itself, and nothing is above it.
 * @throws Refused
 */
export function pathBelowRoot(path: string): string {
  if (path.includes('\0')) throw new Refused('failure', 'The name contains a zero byte')
  if (path.includes('\ufffd'))
    throw new Refused(
      'failure',
      'The name is not valid UTF-8. Rename it, or set the file names of your client to UTF-8',
    )
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  const place = parts.join('/')
  const isLong = parts.length > MOST_PARTS || Buffer.byteLength(place) > MOST_PATH_BYTES
  if (isLong || parts.some((part) => Buffer.byteLength(part) > MOST_NAME_BYTES))
    throw new Refused('failure', 'The path is too long')
  return place
}

/** @throws Refused for a path in the core, which Stead manages */
export function requireOwn(place: string): void {
  if (place === '') throw new Refused('denied', 'The web root itself cannot be changed')
  if (isCores(place))
    throw new Refused('denied', `${CORE_FOLDERS.join(' and ')} belong to WordPress itself: change its version instead`)
}
