import { randomBytes } from 'node:crypto'
import { access, link, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isAlive } from '../is-alive.ts'

/**
 * Writes a file so that a reader, or a restart after a power failure, finds either the old content or the complete new
 * one.
 * @param signal after an abort the old content stays, however long the write takes
 */
export async function writeFileDurably(
  file: string,
  content: string | Buffer,
  mode: number,
  signal?: AbortSignal,
): Promise<void> {
  const temporary = await writeTemporary(file, content, mode)
  if (signal?.aborted) await unlink(temporary)
  signal?.throwIfAborted()
  await rename(temporary, file)
  await syncFolder(dirname(file))
}

/** The content of a file. Bytes from an iterable are not held in memory. */
type Content = string | Buffer | AsyncIterable<Uint8Array>

/**
 * Does the same as {@link writeFileDurably}, but the first writer wins: an existing file is not changed. Each writer
 * uses its own temporary file, so that two simultaneous ones do not mix.
 * @returns whether this was the first
 */
export async function writeFileOnce(file: string, content: Content, mode: number): Promise<boolean> {
  // An existing file must not need space on the disk.
  if (await access(file).then(() => true, missing)) return false
  const temporary = await writeTemporary(file, content, mode)
  try {
    // Unlike rename, link fails if the name is taken.
    await link(temporary, file)
    await syncFolder(dirname(file))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    await unlink(temporary)
  }
}

async function writeTemporary(file: string, content: Content, mode: number): Promise<string> {
  const temporary = `${file}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`
  const handle = await open(temporary, 'wx', mode)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } catch (error) {
    // A partial file would keep a full disk full.
    await unlink(temporary).catch(() => {})
    throw error
  } finally {
    await handle.close()
  }
  return temporary
}

/**
 * A write takes milliseconds. An older file was left behind, even if another process now has its writer's process id.
 */
const LEFT_MS = 60_000

/**
 * Removes files that a process killed during a write has left in a folder.
 * @returns how many files it removed
 */
export async function removeLeftTemporaries(folder: string): Promise<number> {
  let removed = 0
  for (const name of await readdir(folder).catch(() => [])) {
    const [, pid] = /\.(?:(\d+)-)?[0-9a-f]{12}\.tmp$/.exec(name) ?? [undefined, null]
    if (pid === null) continue
    const file = join(folder, name)
    const isLeft = pid !== undefined && !isAlive(Number(pid))
    const isOld = async () => Date.now() - (await stat(file)).mtimeMs > LEFT_MS
    try {
      if (!isLeft && !(await isOld())) continue
      await unlink(file)
      removed++
    } catch {
      // Its writer, or another start, was faster.
    }
  }
  return removed
}

function missing(error: NodeJS.ErrnoException): false {
  if (error.code !== 'ENOENT') throw error
  return false
}

/** Makes changes of a folder's entries survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
