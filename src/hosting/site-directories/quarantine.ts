import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeFileDurably } from '../../platform/files/write-file.ts'
import { directoryNumber } from '../identity/folder.ts'
import { type DirectoryMark, readMark } from './directory-mark.ts'

/** A folder that Stead found in one of its own places and that has no record. */
export interface Quarantined {
  /** Name of its folder in quarantine. */
  readonly name: string
  readonly path: string
  /** Its number as a site directory. It still applies, because the files belong to that number's user. */
  readonly home: number | undefined
  readonly note: Partial<Note>
}

/** Stored beside the folder, as `<name>.json`. */
interface Note {
  readonly from: string
  /** ISO 8601. */
  readonly at: string
  readonly reason: string
  /** The mark that the folder had. */
  readonly mark: DirectoryMark | 'unreadable' | null
}

/** Returns a folder on the same file system as the site directories, so that a rename moves a directory whole. */
async function place(dataDir: string): Promise<string> {
  const sites = join(dataDir, 'sites')
  const [above, own] = await Promise.all([stat(dataDir), stat(sites).catch(() => undefined)])
  return !own || above.dev === own.dev ? join(dataDir, 'set-aside') : join(sites, 'set-aside')
}

/**
 * Moves a site directory out of the way, with a note of where it came from. Touches nothing in it.
 * @returns its new path
 */
export async function quarantine(dataDir: string, path: string, reason: string, nowMs: number): Promise<string> {
  const folder = await place(dataDir)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const at = new Date(nowMs).toISOString()
  const name = `${path.split('/').at(-1)}-${at.replace(/[-:]/g, '').replace('.', '')}`
  const to = join(folder, name)
  const note: Note = { from: path, at, reason, mark: await readMark(path) }
  await writeFileDurably(join(folder, `${name}.json`), `${JSON.stringify(note, null, 2)}\n`, 0o600)
  await moveDurably(path, to)
  return to
}

/** Moves a quarantined folder back to where it belongs. */
export async function recover(found: Quarantined, to: string): Promise<void> {
  await moveDurably(found.path, to)
  await rm(`${found.path}.json`, { force: true })
}

async function moveDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  for (const changed of [dirname(to), dirname(from)]) {
    const handle = await open(changed, 'r')
    await handle.sync().finally(() => handle.close())
  }
}

/** Oldest first. */
export async function listQuarantined(dataDir: string): Promise<Quarantined[]> {
  const folder = await place(dataDir).catch(() => undefined)
  if (!folder) return []
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const found = await Promise.all(
    names.map(async (name) => ({
      name,
      path: join(folder, name),
      home: directoryNumber(name.split('-', 1)[0] as string),
      note: await noteOf(join(folder, `${name}.json`)),
    })),
  )
  return found.sort((a, b) => (a.note.at ?? '').localeCompare(b.note.at ?? ''))
}

async function noteOf(file: string): Promise<Partial<Note>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Partial<Note>
  } catch {
    return {}
  }
}
