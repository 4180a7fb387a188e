import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { writeFileDurably } from '../../platform/files/write-file.ts'

/** A mark has a few lines. A longer file is not one. */
const MOST_BYTES = 4096

const Mark = Type.Object({
  installation: Type.String(),
  host: Type.String(),
  home: Type.Integer(),
  site: Type.Union([Type.Null(), Type.Object({ id: Type.Integer(), name: Type.String() })]),
})

/**
 * The owner of a site directory, stored in its own file (`home.json`), which moves with every copy of the directory. Stead
 * writes it, and the site cannot reach it. Without a site, the directory has never had any site's content.
 */
export type DirectoryMark = Static<typeof Mark>

/** The owner of the site directories in a folder. */
export interface Owner {
  readonly installation: string
  readonly host: string
}

/** What the control database says of a site directory. */
export interface RecordedDirectory {
  readonly id: number
  readonly siteId: number | null
  readonly siteName: string | null
}

const fileOf = (siteDirectory: string): string => join(siteDirectory, 'home.json')

/** @returns `null` when there is none, `'unreadable'` when there is something else */
export async function readMark(siteDirectory: string): Promise<DirectoryMark | 'unreadable' | null> {
  let text: string
  try {
    const handle = await open(fileOf(siteDirectory), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0)
      text = buffer.toString('utf8', 0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code === 'ELOOP') return 'unreadable'
    throw error
  }
  try {
    const mark: unknown = JSON.parse(text)
    return Value.Check(Mark, mark) ? mark : 'unreadable'
  } catch {
    return 'unreadable'
  }
}

export async function writeMark(siteDirectory: string, mark: DirectoryMark): Promise<void> {
  await writeFileDurably(fileOf(siteDirectory), `${JSON.stringify(mark)}\n`, 0o600)
}

/**
 * Whether the folder with this mark is the site directory that the record means. A mark without a site matches a record
 * with one, because Stead names the site in the mark before it adds content.
 */
export function isSameDirectory(mark: DirectoryMark, record: RecordedDirectory, owner: Owner): boolean {
  const { installation, host, home, site } = mark
  if (installation !== owner.installation || host !== owner.host || home !== record.id) return false
  return site === null || (site.id === record.siteId && site.name === record.siteName)
}
