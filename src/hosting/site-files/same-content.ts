import { closeSync, fstatSync, read as readCallback } from 'node:fs'
import { promisify } from 'node:util'
import type { WantedFile } from './stage/merge.ts'
import { openFileBelow } from './stage/pin.ts'

const read = promisify(readCallback)

/**
 * Compares a file of a site with a wanted one, piece by piece, up to the first difference. A file that changes in the
 * meantime counts as different.
 */
export async function isSameContent(root: string, path: string, wanted: WantedFile): Promise<boolean> {
  const fd = openFileBelow(root, path)
  if (fd === undefined) return false
  try {
    const before = fstatSync(fd, { bigint: true })
    const content = await wanted.open()
    if (!content) return false
    let position = 0
    for await (const piece of content) {
      if (!(await isNext(fd, position, piece))) return false
      position += piece.length
    }
    const after = fstatSync(fd, { bigint: true })
    return BigInt(position) === after.size && before.ctimeNs === after.ctimeNs
  } finally {
    closeSync(fd)
  }
}

async function isNext(fd: number, position: number, piece: Uint8Array): Promise<boolean> {
  const there = Buffer.allocUnsafe(piece.length)
  let done = 0
  while (done < piece.length) {
    const { bytesRead } = await read(fd, there, done, piece.length - done, position + done)
    if (bytesRead === 0) return false
    done += bytesRead
  }
  return there.equals(piece)
}
