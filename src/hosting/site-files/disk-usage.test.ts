import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { measureTree } from './disk-usage.ts'

test('what Stead lays out beside the site’s files and its database does not count as the site’s', async () => {
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
