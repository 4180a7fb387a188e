import { copyFile, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The most files and bytes that are kept for a site: the newest ones. */
const MOST_FILES = 200
const MOST_BYTES = 64 << 20
/** The longest time that a file is kept, even of a deleted site. */
const KEPT_MS = 30 * 86_400_000

interface Kept {
  readonly path: string
  readonly bytes: number
  readonly mtimeMs: number
}

/** Stores mails that are not sent to people, as files that mail programs open: `<outbox>/<site>/<time>-<id>.eml`. */
export class SiteOutbox {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Stores a copy. The same mail always gets the same file. */
  async keep({ id, siteId, takenAt }: { id: string; siteId: number; takenAt: number }, file: string): Promise<void> {
    const folder = join(this.#folder, String(siteId))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const name = join(folder, `${new Date(takenAt).toISOString().replaceAll(':', '-')}-${id}.eml`)
    await copyFile(file, `${name}.part`)
    await rename(`${name}.part`, name)
    await this.#trim(folder)
  }

  /** Removes old files, and the folders of sites without any. */
  async sweep(now: number): Promise<void> {
    for (const siteId of await readdir(this.#folder).catch(() => [])) {
      // Stead's own mails are in the same folder.
      if (!/^\d+$/.test(siteId)) continue
      const folder = join(this.#folder, siteId)
      for (const { path, mtimeMs } of await keptIn(folder)) if (now - mtimeMs > KEPT_MS) await rm(path, { force: true })
      // Fails while the folder has content.
      await rmdir(folder).catch(() => {})
    }
  }

  async #trim(folder: string): Promise<void> {
    let bytes = 0
    for (const [index, kept] of (await keptIn(folder)).entries()) {
      bytes += kept.bytes
      if (index >= MOST_FILES || (index > 0 && bytes > MOST_BYTES)) await rm(kept.path, { force: true })
    }
  }
}

/** Returns the files, the newest first. */
async function keptIn(folder: string): Promise<Kept[]> {
  const names = (await readdir(folder)).toSorted().reverse()
  const kept: Kept[] = []
  for (const name of names) {
    const path = join(folder, name)
    const stats = await stat(path).catch(() => undefined)
    if (stats) kept.push({ path, bytes: stats.size, mtimeMs: stats.mtimeMs })
  }
  return kept
}
