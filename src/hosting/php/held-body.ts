import { randomBytes } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { PhpBodyTooLarge } from './runtime.ts'

export interface BodyLimits {
  /** Longer bodies go to a file. */
  readonly memoryBytes: number
  readonly mostBytes: number
  /** Folder for such files, closed to the users of sites. */
  readonly folder: string
}

/** A whole request body, in memory or in a file that has no name any more. */
export interface HeldRequestBody {
  readonly bytes: number
  read(): Readable
  /** Must be called when the body is no longer needed. */
  release(): Promise<void>
}

/**
 * Takes a request body in before PHP is asked for: a visitor with a slow line must not keep the site's only PHP waiting.
 * @throws PhpBodyTooLarge; what the body or the disk throws
 */
export async function holdRequestBody(body: AsyncIterable<Buffer>, limits: BodyLimits): Promise<HeldRequestBody> {
  const chunks: Buffer[] = []
  let bytes = 0
  let file: FileHandle | undefined
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > limits.mostBytes) throw new PhpBodyTooLarge(`the body is longer than ${limits.mostBytes} bytes`)
      chunks.push(chunk)
      if (!file && bytes > limits.memoryBytes) file = await openNameless(limits.folder)
      if (file) for (const each of chunks.splice(0)) await file.appendFile(each)
    }
  } catch (error) {
    await file?.close()
    throw error
  }
  return {
    bytes,
    read: () =>
      file ? file.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 19 }) : Readable.from(chunks),
    release: async () => file?.close(),
  }
}

/** A file that is gone with its descriptor, whatever happens to the process. */
async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `body-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
