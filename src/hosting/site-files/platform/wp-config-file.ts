import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { phpLiteral } from '../../php/wp-config.ts'
import { inFolder } from '../open-inside.ts'

export type ConfigConstants = Readonly<Record<string, string | number | boolean | null>>

/** A file that is longer is not a configuration. */
const MOST_BYTES = 1 << 20

/**
 * Sets constants in a site directory's wp-config.php and leaves everything else in it as its owner wrote it.
 * @param change name → value; `null` removes the constant
 * @returns whether the file changed
 * @throws when no such file exists, or it is not recognised as a configuration
 */
export const changeWpConfig = (siteDirectory: string, uid: number | null, change: ConfigConstants): Promise<boolean> =>
  editWpConfig(siteDirectory, uid, (text) => withConstants(text, change))

/**
 * Changes the text of a site directory's wp-config.php.
 * @returns whether the file changed
 * @throws when no such file exists, or its text cannot be a configuration, and all errors of `edit`
 */
export async function editWpConfig(
  siteDirectory: string,
  uid: number | null,
  edit: (text: string) => string,
): Promise<boolean> {
  const changed = await inFolder(siteDirectory, 'web', async (folder) => {
    const file = `${folder}/wp-config.php`
    const before = await read(file)
    const after = edit(before)
    if (after !== before) await replace(folder, file, after, uid)
    return after !== before
  })
  if (changed === undefined) throw new Error('The site has no web root')
  return changed
}

/**
 * Reads the text of a site directory's wp-config.php. Follows nothing else of that name.
 * @returns undefined when there is none
 */
export const readWpConfig = (siteDirectory: string): Promise<string | undefined> =>
  inFolder(siteDirectory, 'web', (folder) => read(`${folder}/wp-config.php`).catch(() => undefined))

/**
 * Replaces a site directory's wp-config.php.
 * @param before the text that it replaces, kept as `private/${BROKEN_CONFIG}`, where no visitor can read it
 */
export async function writeWpConfig(
  siteDirectory: string,
  uid: number | null,
  text: string,
  before: string | undefined,
): Promise<void> {
  if (before?.trim())
    await inFolder(siteDirectory, 'private', (folder) => replace(folder, `${folder}/${BROKEN_CONFIG}`, before, uid))
  await inFolder(siteDirectory, 'web', (folder) => replace(folder, `${folder}/wp-config.php`, text, uid))
}

/** The name of a wp-config.php that did not work, kept for its owner. */
export const BROKEN_CONFIG = 'wp-config.broken.php'

/**
 * Reads the constants that a wp-config.php sets literally, each on its own line. The text is never run, and may be
 * broken elsewhere.
 */
export function plainConstants(text: string): Record<string, string | number | boolean> {
  const define =
    /^[ \t]*define\(\s*(['"])([A-Za-z_]\w{0,99})\1\s*,\s*(?:'((?:[^'\\\n]|\\.)*)'|"([^"\\$\n]*)"|(true|false)|(-?\d{1,15}))\s*\)\s*;/gim
  const found: Record<string, string | number | boolean> = {}
  for (const [, , name, single, double, truth, number] of text.matchAll(define)) {
    if (name === undefined || name in found) continue
    if (number !== undefined) found[name] = Number(number)
    else if (truth !== undefined) found[name] = truth.toLowerCase() === 'true'
    else found[name] = double ?? (single as string).replaceAll(/\\([\\'])/g, '$1')
  }
  return found
}

async function read(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile() || stats.size > MOST_BYTES) throw new Error('wp-config.php is not a file of the usual kind')
    // Reads only up to the known size, because the site may be writing to the file.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size), 0, stats.size, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function replace(folder: string, file: string, text: string, uid: number | null): Promise<void> {
  const temporary = `${folder}/.wp-config-${randomBytes(6).toString('hex')}`
  const handle = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o640,
  )
  try {
    await handle.writeFile(text)
    if (uid !== null) await handle.chown(uid, uid)
    await handle.sync()
    await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  } finally {
    await handle.close()
  }
}

/**
 * Returns the text of a wp-config.php with these constants. Changes an existing `define` in place, and adds a new one
 * before WordPress is loaded.
 * @throws when the text does not load WordPress
 */
export function withConstants(text: string, change: ConfigConstants): string {
  let result = text
  for (const [name, value] of Object.entries(change)) {
    const statement = new RegExp(`^[ \\t]*define\\(\\s*(['"])${name}\\1\\s*,.*\\);[ \\t]*\\r?\\n`, 'm')
    const line = value === null ? '' : `define('${name}', ${phpLiteral(value)});\n`
    if (statement.test(result)) result = result.replace(statement, () => line)
    else if (line) result = beforeWordPress(result, line)
  }
  return result
}

/** The comment in WordPress' own file that plugins look for, to put their constants before it. */
const SETS_UP = '/** Sets up WordPress vars and included files. */'

/** Returns the text of a wp-config.php with the comment before which plugins add their constants. */
export function withStandardComment(text: string): string {
  if (text.includes(SETS_UP)) return text
  return text.replace(/^require_once\s*\(?\s*ABSPATH\s*\.\s*['"]wp-settings\.php/m, (line) => `${SETS_UP}\n${line}`)
}

function beforeWordPress(text: string, line: string): string {
  const at = text.search(
    /^[ \t]*(\$table_prefix\s*=|if\s*\(\s*!\s*defined\(\s*['"]ABSPATH|require(_once)?\b.*wp-settings\.php)/m,
  )
  if (at < 0) throw new Error('wp-config.php does not load WordPress')
  return text.slice(0, at) + line + text.slice(at)
}
