import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diskUsages, measureTree } from './disk-usage.ts'

test('does not count what Stead stages next to the site’s files and its database', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'stead-usage-'))
  try {
    for (const folder of ['web', 'exchange', 'database']) {
      await mkdir(join(directory, folder))
      await writeFile(join(directory, folder, 'large'), Buffer.alloc(1 << 20))
    }
    const { bytes, files } = await measureTree(directory)
    expect(bytes).toBeGreaterThanOrEqual(1 << 20)
    expect(bytes).toBeLessThan(2 << 20)
    expect(files).toBe(2)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('counts a file with a hole by its length, and a small file by its blocks', async () => {
  const home = await mkdtemp(join(tmpdir(), 'stead-usage-'))
  try {
    await mkdir(join(home, 'web'))
    await mkdir(join(home, 'small'))
    await writeFile(join(home, 'web', 'hole'), '')
    await truncate(join(home, 'web', 'hole'), 2 ** 40)
    for (let file = 0; file < 10; file++) await writeFile(join(home, 'small', String(file)), 'x')
    expect((await measureTree(home)).bytes).toBeGreaterThanOrEqual(2 ** 40)
    const [[web = 0, small = 0] = []] = await diskUsages([home], ['web', 'small'])
    expect(web).toBeGreaterThanOrEqual(2 ** 40)
    expect(small).toBeGreaterThanOrEqual(10 * 4096)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
