import { createHash } from 'node:crypto'
import { access, chmod, lchown, lstat, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { flushFileSystem } from '../../platform/files/flush-file-system.ts'

/** The content of a core. The checksum covers the name and content of every file. */
export interface CoreContent {
  readonly sha256: string
  readonly files: number
  readonly sizeBytes: number
}

const needed = [
  'index.php',
  'wp-load.php',
  'wp-login.php',
  'wp-settings.php',
  'wp-admin/index.php',
  'wp-includes/load.php',
]

/** @throws Error when files that WordPress needs to start are missing, or every theme is */
export async function checkComplete(folder: string): Promise<void> {
  for (const name of needed)
    await access(join(folder, name)).catch((cause) => {
      throw new Error(`${name} is missing`, { cause })
    })
  for (const theme of await readdir(join(folder, 'wp-content/themes')).catch(() => []))
    if (await isThere(join(folder, 'wp-content/themes', theme, 'style.css'))) return
  throw new Error('it contains no theme')
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/**
 * Normalises a tree to the form of all cores (files 0644, folders 0755, all owned by this user) and returns its
 * content.
 * @throws Error when there is anything but files and folders
 */
export async function sealTree(folder: string): Promise<CoreContent> {
  const hash = createHash('sha256')
  let files = 0
  let sizeBytes = 0
  const walk = async (path: string, name: string): Promise<void> => {
    const stats = await lstat(path)
    if (!stats.isDirectory() && !stats.isFile()) throw new Error(`${name} is neither a file nor a folder`)
    const [uid, gid] = [process.getuid?.() ?? stats.uid, process.getgid?.() ?? stats.gid]
    if (stats.uid !== uid || stats.gid !== gid) await lchown(path, uid, gid)
    const mode = stats.isDirectory() ? 0o755 : 0o644
    if ((stats.mode & 0o7777) !== mode) await chmod(path, mode)
    if (stats.isDirectory()) {
      for (const entry of (await readdir(path)).sort()) await walk(join(path, entry), name ? `${name}/${entry}` : entry)
      return
    }
    const content = await readFile(path)
    files += 1
    sizeBytes += content.length
    hash.update(`${createHash('sha256').update(content).digest('hex')}  ${name}\n`)
  }
  await walk(folder, '')
  return { sha256: hash.digest('hex'), files, sizeBytes }
}

/** Returns once everything below the folder is on the disk. */
export async function flushTree(folder: string): Promise<void> {
  if (!(await flushFileSystem(folder))) await flushEach(folder)
}

async function flushEach(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await flushEach(join(path, entry.name))
    else await flush(join(path, entry.name))
  }
  await flush(path)
}

/** Flushes one file or folder with fsync. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
