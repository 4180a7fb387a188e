import { randomBytes } from 'node:crypto'
import { link, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file so that a reader, or a restart after losing power, finds either the old content or the whole new one. */
export async function writeFileDurably(file: string, content: string | Buffer, mode: number): Promise<void> {
  const temporary = await writeTemporary(file, content, mode)
  await rename(temporary, file)
  await syncFolder(dirname(file))
}

/** As {@link writeFileDurably}, but the first writer wins: an existing file is left as it is. */
export async function writeFileOnce(file: string, content: string | Buffer, mode: number): Promise<void> {
  const temporary = await writeTemporary(file, content, mode)
  try {
    // unlike rename, link fails when the name is taken
    await link(temporary, file)
    await syncFolder(dirname(file))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(temporary)
  }
}

async function writeTemporary(file: string, content: string | Buffer, mode: number): Promise<string> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  const handle = await open(temporary, 'wx', mode)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return temporary
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
