import { createReadStream } from 'node:fs'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { readTar } from './tar-entries.ts'
import { ArchiveRefused, type Unpacked, type UnpackOptions, unpackedTree } from './unpacked-tree.ts'

const taken = new Set(['File', 'OldFile', 'ContiguousFile', 'Directory'])
const links = new Set(['SymbolicLink', 'Link'])

/**
 * Unpacks a decompressed tar stream into the folder `into`, which must exist, be empty, and be used by no other
 * process. Takes files and folders only. After an error, the folder contains part of the archive: remove it.
 * @throws ArchiveRefused
 */
export async function unpackTar(source: Readable, into: string, options: UnpackOptions): Promise<Unpacked> {
  const tree = unpackedTree(into, options)
  try {
    await readTar(source, async (entry) => {
      const path = tree.place(entry.path)
      if (links.has(entry.type)) return tree.link(entry.path)
      if (!taken.has(entry.type)) throw new ArchiveRefused(`${JSON.stringify(entry.path)}: neither a file nor a folder`)
      if (path === undefined) return
      if (entry.type === 'Directory') await tree.folder(path)
      else await tree.file(path, entry)
    })
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException)?.code ?? '')
    throw code.startsWith('Z_') ? new ArchiveRefused('not a valid compressed archive', { cause: error }) : error
  } finally {
    source.destroy()
  }
  return tree.result()
}

/** Unpacks a .tar.gz file like `unpackTar`. */
export async function unpackTarGz(archive: string, into: string, options: UnpackOptions): Promise<Unpacked> {
  // An error of either stream arrives through the second one, which pipeline() destroys with it.
  return unpackTar(
    pipeline(createReadStream(archive), createGunzip(), () => {}),
    into,
    options,
  )
}
