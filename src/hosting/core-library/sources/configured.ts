import { copyFile, mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { unpackTarGz } from '../../archives/unpack-tar.ts'
import { unpackZip } from '../../archives/unpack-zip.ts'
import { type CoreSource, coreLimits, type SourceTask } from '../core-source.ts'
import { isVersion, versionOf } from '../wordpress-version.ts'

/**
 * Returns the source for the folder, .zip, or .tar.gz that the operator configured. It may be an installed site: only
 * files that belong to a release are taken.
 */
export function configuredSource(location: string): CoreSource {
  const path = resolve(location)
  const find: CoreSource['find'] = async (version, task) => {
    const root = await open(path, task)
    const found = await versionOf(root)
    if (version !== 'latest' && version !== found) throw new Error(`it contains ${found}, not ${version}`)
    return {
      version: found,
      async unpack(into) {
        task.report('unpacking')
        if (root.startsWith(task.workDir)) await rename(root, into)
        else await copyRelease(root, into, task)
      },
    }
  }
  return {
    name: `STEAD_CORE_SOURCE (${path})`,
    async identity() {
      const stats = await stat(join(path, 'wp-includes/version.php')).catch(() => stat(path).catch(() => undefined))
      return `${path} ${stats?.mtimeMs} ${stats?.size}`
    },
    find,
    versions: async (task) => [{ version: (await find('latest', task)).version }],
  }
}

async function open(path: string, task: SourceTask): Promise<string> {
  const stats = await stat(path).catch((cause) => {
    throw new Error(`it cannot be read (${cause.code})`, { cause })
  })
  if (stats.isDirectory()) return rootOf(path)
  const into = join(task.workDir, 'archive')
  await mkdir(into)
  const options = {
    limits: coreLimits,
    ...(task.signal && { signal: task.signal }),
    onProgress: (unpackedBytes: number) => task.report('unpacking', unpackedBytes),
  }
  if (path.endsWith('.zip')) await unpackZip(path, into, options)
  else if (/\.(tar\.gz|tgz)$/.test(path)) await unpackTarGz(path, into, options)
  else throw new Error('it is neither a folder nor a .zip or .tar.gz file')
  return rootOf(into)
}

// Releases contain one folder, `wordpress`. Other archives contain the files directly.
async function rootOf(folder: string): Promise<string> {
  const names = await readdir(folder)
  if (names.includes('wp-includes')) return folder
  const inner = names.includes('wordpress') ? 'wordpress' : names.length === 1 ? names[0] : undefined
  if (inner && isVersion(await versionOf(join(folder, inner)))) return join(folder, inner)
  throw new Error('it does not contain WordPress')
}

const notOfARelease =
  /^(wp-config\.php|\.htaccess|\.git|wp-content\/(?!index\.php$|themes(\/|$)|plugins(\/|$)|languages(\/|$)).*)$/

/** Copies a release and follows links, because WordPress folders of distributions link to their libraries. */
async function copyRelease(from: string, into: string, task: SourceTask): Promise<void> {
  let entries = 0
  let copiedBytes = 0
  const copy = async (name: string): Promise<void> => {
    task.signal?.throwIfAborted()
    const source = join(from, name)
    const stats = await stat(source).catch((cause) => {
      throw new Error(`${name} points to nothing or cannot be read`, { cause })
    })
    entries += 1
    copiedBytes += stats.isFile() ? stats.size : 0
    if (entries > coreLimits.maxEntries || copiedBytes > coreLimits.maxBytes || name.split('/').length > 64)
      throw new Error('it contains more than a WordPress release')
    if (stats.isFile()) return copyFile(source, join(into, name))
    if (!stats.isDirectory()) throw new Error(`${name} is neither a file nor a folder`)
    await mkdir(join(into, name))
    for (const entry of await readdir(source)) {
      const inner = name ? `${name}/${entry}` : entry
      if (!notOfARelease.test(inner)) await copy(inner)
    }
    task.report('unpacking', copiedBytes)
  }
  await copy('')
}
