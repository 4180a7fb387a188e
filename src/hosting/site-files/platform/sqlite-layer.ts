/**
 * The layer that makes WordPress run on SQLite, as sites get it: upstream's release, a series of our patches, and files
 * of ours that the patches call. All of it comes with Stead, in `third-party/`.
 */
import { createHash } from 'node:crypto'
import { cp, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unpackZip } from '../../archives/unpack-zip.ts'
import { applyHunks, parsePatch } from './unified-patch.ts'

const parts = join(import.meta.dirname, '../../../../third-party')
const release = join(parts, 'sqlite-database-integration-3.0.1.zip')
const ours = join(parts, 'sqlite-database-integration')
const patches = join(ours, 'patches')
const added = join(ours, 'added')

const limits = { maxEntries: 5_000, maxBytes: 64 << 20 }

/** The file that states which layer a folder holds. It contains the layer's number. */
export const layerMark = 'stead-layer'

const patchFiles = async (): Promise<string[]> =>
  (await readdir(patches)).filter((name) => name.endsWith('.patch')).sort()

let number: Promise<string> | undefined

/** Returns the number that identifies the layer. It changes when any part of the layer does. */
export const layerNumber = (): Promise<string> => {
  number ??= digest()
  return number
}

async function digest(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(release))
  const files = (await readdir(ours, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  for (const file of files.map(({ parentPath, name }) => join(parentPath, name)).sort())
    hash.update(`\0${file.slice(ours.length)}\0`).update(await readFile(file))
  return hash.digest('hex')
}

/**
 * Unpacks the layer into an empty folder.
 * @throws when a patch does not fit the release
 */
export async function unpackLayer(folder: string): Promise<void> {
  await unpackZip(release, folder, { limits, stripFolders: 1 })
  await cp(added, folder, { recursive: true })
  for (const name of await patchFiles())
    for (const file of parsePatch(await readFile(join(patches, name), 'utf8'))) {
      const place = join(folder, file.path)
      await writeFile(place, applyHunks(await readFile(place, 'utf8'), file))
    }
  const mark = await layerNumber()
  await writeFile(join(folder, layerMark), mark)
  await setTimes(folder, mark)
}

/**
 * Sets the times of files, by which PHP recognises what it has compiled. One layer has the same times in every site,
 * and another layer has different ones.
 */
async function setTimes(folder: string, mark: string): Promise<void> {
  const seconds = 1_600_000_000 + (Number.parseInt(mark.slice(0, 7), 16) % 100_000_000)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), seconds, seconds)
}
