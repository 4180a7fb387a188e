import { randomBytes } from 'node:crypto'
import { open, rename, stat, unlink } from 'node:fs/promises'
import { CommandError, diskError } from '../output.ts'

/** Settings by variable, as text: `STEAD_DATA_DIR`. */
export type SettingTexts = Readonly<Record<string, string>>
/** New values by variable. `undefined` removes a setting. */
export type SettingChanges = Readonly<Record<string, string | undefined>>

/** Only root and the service's group may read the secrets in it. */
const MODE = 0o640
const LINE = /^(STEAD_[A-Z0-9_]+)=(.*)$/

/** Reads a file of `NAME=value` lines, as `/usr/bin/stead` of the Debian package does. Of several lines, the first counts. */
export function readSettingsText(text: string): SettingTexts {
  const found: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const [, name, value = ''] = LINE.exec(line) ?? []
    if (name !== undefined) found[name] ??= value.trimEnd().replace(/^(["'])(.*)\1$/, '$2')
  }
  return found
}

/**
 * Returns the text with other values. Every other line stays as it is. A new setting goes below its commented example,
 * if there is one.
 * @throws CommandError for a value that such a file cannot contain
 */
export function changeSettingsText(text: string, changes: SettingChanges): string {
  const lines = text.replace(/\n$/, '').split('\n')
  for (const [name, value] of Object.entries(changes)) {
    const isOwn = (line: string) => line.startsWith(`${name}=`)
    const first = lines.findIndex(isOwn)
    const example = lines.findLastIndex((line) => new RegExp(`^#\\s*${name}=`).test(line))
    const place = first >= 0 ? first : example >= 0 ? example + 1 : lines.length
    const others = (line: string) => !isOwn(line)
    const after = lines.slice(place).filter(others)
    lines.splice(place, lines.length, ...(value === undefined ? [] : [`${name}=${quoted(name, value)}`]), ...after)
  }
  return `${lines.join('\n').replace(/^\n/, '')}\n`
}

/** Returns the value as systemd and the package's command both read it. Neither has escapes that the other knows. */
function quoted(name: string, value: string): string {
  if (/^[^\s"'\\]*$/.test(value)) return value
  if (/["\\]/.test(value) && !/['\p{Cc}]/u.test(value)) return `'${value}'`
  if (!/["\\\p{Cc}]/u.test(value)) return `"${value}"`
  throw new CommandError(`${name} contains characters that a settings file cannot contain. In a URL, encode them: %27.`)
}

/**
 * Replaces the file at once, with the owner of the old one.
 * @throws CommandError when it cannot be written
 */
export async function writeSettingsFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const old = await stat(file).catch(() => undefined)
    const handle = await open(temporary, 'wx', MODE)
    try {
      // Whatever the umask is.
      await handle.chmod(MODE)
      if (old) await handle.chown(old.uid, old.gid)
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => {})
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM')
      throw new CommandError(`${file} cannot be written. Run stead setup as root.`)
    throw diskError(file, error)
  }
}
