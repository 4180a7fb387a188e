import { readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Disk usage of a server's temporary files. */
export interface TemporaryFiles {
  readonly bytes: number
  /** Bytes per connection ID, for files whose names contain it. */
  readonly ofSession: ReadonlyMap<number, number>
}

/** `#sql-temptable-<process>-<connection>-<number>.MAD`, with hexadecimal numbers. */
const OF_SESSION = /^#sql-?temptable-[0-9a-f]+-([0-9a-f]+)-/

const bytesAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ blocks }) => blocks * 512,
    () => 0,
  )

/**
 * Measures the temporary files of a server. Sort files have no name, and are found through the descriptors of its
 * process.
 * @param pid process of the server; undefined when it does not run
 */
export async function temporaryFiles(folder: string, pid: number | undefined): Promise<TemporaryFiles> {
  const ofSession = new Map<number, number>()
  let bytes = 0
  for (const name of await readdir(folder).catch(() => [])) {
    const size = await bytesAt(join(folder, name))
    bytes += size
    const session = OF_SESSION.exec(name)?.[1]
    if (session === undefined) continue
    const id = Number.parseInt(session, 16)
    ofSession.set(id, (ofSession.get(id) ?? 0) + size)
  }
  const open = `/proc/${pid}/fd`
  for (const name of pid === undefined ? [] : await readdir(open).catch(() => [])) {
    const target = await readlink(join(open, name)).catch(() => '')
    if (target.startsWith(`${folder}/`) && target.endsWith(' (deleted)')) bytes += await bytesAt(join(open, name))
  }
  return { bytes, ofSession }
}
