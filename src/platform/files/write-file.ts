import { randomBytes } from 'node:crypto'
import { access, link, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isAlive } from '../is-alive.ts'

/**
 * Writes a file so that a reader, or a restart after losing power, finds either the old content or the whole new one.
 * @param signal the old content stays, however long this takes from then on
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

/** What a file is written of: bytes that come as they are made are not held. */
type Content = string | Buffer | AsyncIterable<Uint8Array>

/**
 * As {@link writeFileDurably}, but the first writer wins: an existing file is left as it is. Each writes a file of its own
 * until then, so that two at once do not write into each other's.
 * @returns whether this was the first
 */
export async function writeFileOnce(file: string, content: Content, mode: number): Promise<boolean> {
  // what is there already must not need room on the disk
  if (await access(file).then(() => true, missing)) return false
  const temporary = await writeTemporary(file, content, mode)
  try {
    // unlike rename, link fails when the name is taken
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
    // half a file would keep a full disk full
    await unlink(temporary).catch(() => {})
    throw error
  } finally {
    await handle.close()
  }
  return temporary
}

/** Writing takes milliseconds: what is older was left, even if its writer's number belongs to somebody else by now. */
const LEFT_MS = 60_000

/**
 * Removes what a process that was killed in the middle of a write has left in a folder.
 * @returns how many files
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
      // its writer, or another start, was quicker
    }
  }
  return removed
}

function missing(error: NodeJS.ErrnoException): false {
  if (error.code !== 'ENOENT') throw error
  return false
}

/** What was made, renamed or removed in the folder stays so when the power fails. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
