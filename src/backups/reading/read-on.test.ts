import { afterEach, describe, expect, test } from 'vitest'
import { type TestBackups, testBackups } from '../backup-store.fixture.ts'
import type { BackupRepository, StoredFile } from '../backup-store.ts'
import { all, contentsOf, hash, hashes, noise, source } from '../trees.fixture.ts'

/** The files include texts, of which a stretch contains more than is opened at once. */
const files = Object.fromEntries(
  Array.from({ length: 300 }, (_, n) => [
    `f${n}`,
    n % 3 === 0 ? Buffer.alloc(200_000, `text ${n} `) : noise(40_000 + n, n),
  ]),
)

const opened: TestBackups[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

/** Creates a backup of the files, and counts the requests for its packs. */
async function stand() {
  const asked: string[] = []
  const store = await testBackups({
    around: (storage) => ({
      ...storage,
      get: (name, ...rest) => {
        if (name.includes('/packs/')) asked.push(name)
        return storage.get(name, ...rest)
      },
    }),
  })
  opened.push(store)
  await store.backups.repository('site-1').writeTree(source(files), { name: 'b1' })
  const repository = store.backups.repository('site-1')
  const stored = (await Array.fromAsync(repository.entries('b1'))).filter((entry) => entry.kind === 'file')
  asked.length = 0
  return { ...store, asked, repository, stored }
}

const hashesOf = async (repository: BackupRepository, stored: readonly StoredFile[]) =>
  Object.fromEntries(
    await Promise.all(stored.map(async (file) => [file.path, hash(await all(repository.readFile(file)))] as const)),
  )

describe('the files of a tree', () => {
  test('are read in stretches if read in order', async () => {
    const { repository, asked } = await stand()
    expect(await contentsOf(repository, 'b1')).toEqual(hashes(files))
    expect(asked.length).toBeLessThan(80)
  })

  test('are correct when many are read at once, in order or not', async () => {
    const { repository, stored } = await stand()
    for (const order of [stored, stored.toReversed(), stored.filter((_, n) => n % 50 === 0)])
      for (let at = 0; at < order.length; at += 16) {
        const some = order.slice(at, at + 16)
        const expected = Object.fromEntries(some.map(({ path }) => [path, hash(files[path] as Buffer)]))
        expect(await hashesOf(repository, some)).toEqual(expected)
      }
  })

  test('are readable although one of them is damaged, which is named', async () => {
    const { repository, stored, storage } = await stand()
    const [pack] = await storage.list('site-1/packs/')
    const bytes = (await storage.get(pack?.name as string)) as Buffer
    bytes.writeUInt8(bytes.readUInt8(2_000_000) ^ 1, 2_000_000)
    await storage.put(pack?.name as string, bytes)
    const damaged: string[] = []
    for (const file of stored)
      await all(repository.readFile(file)).then(
        (content) => expect([file.path, hash(content)]).toEqual([file.path, hash(files[file.path] as Buffer)]),
        (error) => damaged.push(`${file.path} ${error.name} ${error.message}`),
      )
    expect(damaged).toEqual([expect.stringMatching(/^(f\d+) BackupDamaged \1: chunk /)])
  })

  test('are read again after the storage failed to answer', async () => {
    const { folder, stored } = await stand()
    let away = 0
    const store = await testBackups({
      folder,
      around: (storage) => ({
        ...storage,
        get: (name, ...rest) => {
          if (away > 0 && name.includes('/packs/')) return Promise.reject(new Error(`away ${away--}`))
          return storage.get(name, ...rest)
        },
      }),
    })
    const repository = store.backups.repository('site-1')
    const [one, two, three] = stored as [StoredFile, StoredFile, StoredFile]
    await all(repository.readFile(one))
    away = 2
    await expect(all(repository.readFile(two))).rejects.toThrow('away')
    away = 0
    expect(hash(await all(repository.readFile(two)))).toBe(hash(files[two.path] as Buffer))
    expect(hash(await all(repository.readFile(three)))).toBe(hash(files[three.path] as Buffer))
  })
})
