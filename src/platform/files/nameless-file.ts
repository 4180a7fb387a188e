import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Opens a new file for reading and writing. It disappears with its descriptor, whatever happens to the process. */
export async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, randomBytes(16).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

/**
 * Creates a folder for such files, which no other user can access. It removes files of a process that died between the
 * creation of a file and the removal of its name.
 */
export async function namelessFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) if (/^[0-9a-f]{32}$/.test(name)) await unlink(join(folder, name))
  return folder
}
