import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Opens a new file for reading and writing that is gone with its descriptor, whatever happens to the process. */
export async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, randomBytes(16).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/**
 * Makes a folder for such files, closed to all other users. What a process has left there that died between the making of a file
 * and the loss of its name is removed.
 */
export async function namelessFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) if (/^[0-9a-f]{32}$/.test(name)) await unlink(join(folder, name))
  return folder
}
