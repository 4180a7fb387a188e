/** A file system in memory, small enough for a test to fill. */
import { execFile } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface SmallDisk {
  readonly folder: string
  freeBytes(): number
  /** Takes all space except `leaveBytes` at once: a running writer would take space that is released meanwhile. */
  fill(leaveBytes?: number): Promise<void>
  /** Releases what `fill` took. */
  relieve(): Promise<void>
  remove(): Promise<void>
}

/** @throws if this user may not mount */
export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-small-disk-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', folder]).catch(async (error) => {
    await rm(folder, { recursive: true })
    throw error
  })
  const filler = join(folder, 'filler')
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  return {
    folder,
    freeBytes,
    async fill(leaveBytes = 0) {
      for (let attempt = 1; ; attempt++) {
        const bytes = freeBytes() - leaveBytes
        if (bytes <= 0) return
        try {
          await run('fallocate', ['-l', String(bytes), filler])
          return
        } catch (error) {
          // A process that is ending has taken some of it meanwhile.
          if (attempt === 5) throw error
        }
      }
    },
    relieve: () => rm(filler, { force: true }),
    async remove() {
      await run('umount', ['-l', folder])
      await rm(folder, { recursive: true })
    },
  }
}

/** Whether this user may mount one. */
export const maySmallDisk: boolean =
  process.getuid?.() === 0 &&
  (await smallDisk(1).then(
    async (disk) => {
      await disk.remove()
      return true
    },
    () => false,
  ))
