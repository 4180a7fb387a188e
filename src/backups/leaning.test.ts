/** Tests that a backup reuses only packs with correct content. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type S3Server, s3Server } from '../../test/support/s3-server.ts'
import { type TestBackupsOptions, testBackups } from './backup-store.fixture.ts'
import { folderStorage } from './storage/folder-storage.ts'
import { s3Storage } from './storage/s3-storage.ts'
import type { Storage } from './storage/storage.ts'
import { contentsOf, hashes, noise, source } from './trees.fixture.ts'

let folder: string
let server: S3Server
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-leaning-'))
  server = await s3Server()
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const WEEK_MS = 7 * 86_400_000
const files = { 'one.jpg': noise(400_000, 1), 'two.jpg': noise(400_000, 2) }
let stands = 0

/** Creates a backup `b1` of two files in one pack, in a storage that counts the packs that are read. */
async function stand(kind: 'folder' | 'bucket', options: Pick<TestBackupsOptions, 'now'> = {}) {
  const prefix = `stand-${stands++}`
  const base: Storage =
    kind === 'folder'
      ? folderStorage({ folder: join(folder, prefix) })
      : s3Storage({ ...server, endpoint: server.url, region: 'us-east-1', prefix })
  const reads: string[] = []
  const storage: Storage = {
    ...base,
    get: (name, ...rest) => {
      if (name.includes('/packs/')) reads.push(name)
      return base.get(name, ...rest)
    },
  }
  const { backups } = await testBackups({ around: () => storage, ...options })
  const repository = backups.repository('site-1')
  await repository.writeTree(source(files), { name: 'b1', readBack: new Set() })
  const packs = async () => (await base.list('site-1/packs/')).map(({ name }) => name)
  const [pack] = (await packs()) as [string]
  const opened: string[] = []
  const write = (name: string, trustMs?: number, content: Record<string, Buffer> = files) => {
    opened.length = 0
    return repository.writeTree(source(content, opened), {
      name,
      readBack: new Set(),
      ...(trustMs !== undefined && { trustMs }),
    })
  }
  return { storage: base, backups, repository, reads, packs, pack, opened, write }
}
type Stand = Awaited<ReturnType<typeof stand>>

const flipAt = (place: (bytes: Buffer) => number) => async (storage: Storage, pack: string) => {
  const bytes = (await storage.get(pack)) as Buffer
  const at = place(bytes)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  await storage.put(pack, bytes)
}

const harms = [
  { harm: 'with a flipped bit', damage: flipAt(() => 1000) },
  { harm: 'with a flipped bit in its table', damage: flipAt(({ length }) => length - 30) },
  {
    harm: 'that is cut off',
    damage: async (storage: Storage, pack: string) =>
      storage.put(pack, ((await storage.get(pack)) as Buffer).subarray(0, 500_000)),
  },
  {
    harm: 'of zeros, in its length',
    damage: async (storage: Storage, pack: string) =>
      storage.put(pack, Buffer.alloc(((await storage.get(pack)) as Buffer).length)),
  },
  { harm: 'that is missing', damage: (storage: Storage, pack: string) => storage.remove([pack]) },
]

describe.each(['folder', 'bucket'] as const)('in a %s', (kind) => {
  it.each(harms)('rewrites a pack that $harm, which also heals the earlier backup', async ({ damage }) => {
    const { storage, backups, pack, write } = await stand(kind)
    await damage(storage, pack)
    await write('b2')
    const again = backups.repository('site-1')
    for (const name of ['b2', 'b1']) {
      await again.verify(name)
      expect(await contentsOf(again, name)).toEqual(hashes(files))
    }
  })

  it('loses a file that has changed since only for the earlier backup', async () => {
    const { storage, repository, pack, write } = await stand(kind)
    await flipAt(() => 1000)(storage, pack)
    const changed = { ...files, 'one.jpg': noise(400_000, 9) }
    await write('b2', 0, changed)
    await repository.verify('b2')
    await expect(repository.verify('b1')).rejects.toThrow(/one\.jpg: chunk/)
  })
})

describe('within the time that a pack is trusted', () => {
  const harmless = async ({ storage, pack }: Stand) => storage.put(pack, (await storage.get(pack)) as Buffer)

  it('does not read it again, and reads it afterwards', async () => {
    let now = Date.now()
    const own = await stand('folder', { now: () => now })
    const readsOf = async (name: string, trustMs: number) => {
      own.reads.length = 0
      await own.write(name, trustMs)
      return own.reads.length
    }
    now += 86_400_000
    const known = await readsOf('b2', WEEK_MS)
    expect(await readsOf('b3', WEEK_MS)).toBe(known)
    now += WEEK_MS
    expect(await readsOf('b4', WEEK_MS)).toBeGreaterThan(known)
    // The age of the check is that of the read, not of the backup.
    expect(await readsOf('b5', WEEK_MS)).toBe(known)
    expect(await readsOf('b6', 0)).toBeGreaterThan(known)
  })

  it('reads it again if the storage reports that it was written since', async () => {
    const own = await stand('folder')
    own.reads.length = 0
    await own.write('b2', WEEK_MS)
    const known = own.reads.length
    await harmless(own)
    own.reads.length = 0
    await own.write('b3', WEEK_MS)
    expect(own.reads.length).toBeGreaterThan(known)
    await flipAt(() => 1000)(own.storage, own.pack)
    await own.write('b4', WEEK_MS)
    expect(own.opened).toEqual(['one.jpg', 'two.jpg'])
    await own.repository.verify('b4')
  })
})

it('finds damaged content under another path too, and rewrites it', async () => {
  const { storage, repository, pack, write, opened } = await stand('folder')
  await flipAt(() => 1000)(storage, pack)
  const moved = { 'moved.jpg': files['one.jpg'] }
  await write('b2', 0, moved)
  // At first, the storage seemed to have it.
  expect(opened).toEqual(['moved.jpg', 'moved.jpg'])
  expect(await contentsOf(repository, 'b2')).toEqual(hashes(moved))
})

describe('a reader of a damaged pack', () => {
  const marks = ({ storage }: Stand) => storage.list('site-1/marks/')

  it('marks it once', async () => {
    const own = await stand('folder')
    await flipAt(() => 1000)(own.storage, own.pack)
    for (const _time of [1, 2])
      await expect(contentsOf(own.backups.repository('site-1'), 'b1')).rejects.toThrow(/one\.jpg/)
    expect((await marks(own)).map(({ name }) => name.endsWith('-damaged'))).toEqual([true])
  })

  it('marks it when it would reuse it, even if it needs nothing of the damaged part', async () => {
    const own = await stand('folder')
    await flipAt(() => 1000)(own.storage, own.pack)
    await own.write('b2', 0, { 'two.jpg': files['two.jpg'] })
    expect((await marks(own)).map(({ name }) => name.endsWith('-damaged'))).toEqual([true])
  })

  it('leaves a storage unchanged that another copy of the installation controls', async () => {
    const own = await stand('folder')
    await flipAt(() => 1000)(own.storage, own.pack)
    const { backups } = await testBackups({ around: () => own.storage, holder: 'another' })
    await expect(contentsOf(backups.repository('site-1'), 'b1')).rejects.toThrow(/one\.jpg/)
    expect(await marks(own)).toEqual([])
  })
})
