import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface SmallDisk {
  readonly folder: string
  /** Whether it has a limit. Otherwise it is a folder on the machine's own disk. */
  readonly isBounded: boolean
  remove(): Promise<void>
}

/** A file system in a sparse file, so that filling it fills nothing else. */
export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const place = await mkdtemp(join(tmpdir(), 'stead-siege-'))
  const [image, folder] = [join(place, 'disk'), join(place, 'mounted')]
  await mkdir(folder)
  const mounted = await mount(image, folder, megabytes).then(
    () => true,
    () => false,
  )
  await run('chmod', ['0711', place, folder])
  return {
    folder,
    isBounded: mounted,
    async remove() {
      if (mounted) await run('umount', ['-l', folder])
      await rm(place, { recursive: true, force: true })
    },
  }
}

async function mount(image: string, folder: string, megabytes: number): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('only root may mount')
  await writeFile(image, '')
  await truncate(image, megabytes * 2 ** 20)
  await run('mkfs.ext4', ['-q', '-m', '0', image])
  await run('mount', ['-o', 'loop', image, folder])
}
