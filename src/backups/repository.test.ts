import { afterEach, describe, expect, it } from 'vitest'
import { type TestBackups, testBackups } from './backup-store.fixture.ts'
import type { SourceEntry } from './backup-store.ts'
import { all, contentsOf, hash, hashes, noise, pieces } from './trees.fixture.ts'

const opened: TestBackups[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function store(): Promise<TestBackups> {
  const made = await testBackups()
  opened.push(made)
  return made
}

async function* source(files: Record<string, Buffer>, read: string[] = []): AsyncGenerator<SourceEntry> {
  yield { kind: 'folder', path: 'a', mode: 0o755, mtimeMs: 1 }
  for (const [path, content] of Object.entries(files))
    yield {
      kind: 'file',
      path,
      mode: 0o644,
      mtimeMs: 2,
      sizeBytes: content.length,
      stamp: `${content.length} ${content.subarray(0, 8).toString('hex')}`,
      open: async () => {
        read.push(path)
        return pieces(content)
      },
    }
  yield { kind: 'link', path: 'link', mtimeMs: 3, target: 'a/x' }
}

it('lets others go first between any two pieces, during writes and reads', async () => {
  const repository = (await store()).backups.repository('site-1')
  let asked = 0
  const yieldWhileBusy = async () => void asked++
  const count = async (work: Promise<unknown>) => {
    asked = 0
    await work
    return asked
  }
  const files = { 'a/x': noise(6_000_000), 'a/y': noise(6_000_000, 1) }
  expect(await count(repository.writeTree(source(files), { name: 'tree', yieldWhileBusy }))).toBeGreaterThanOrEqual(4)
  expect(await count(repository.verify('tree', { yieldWhileBusy }))).toBeGreaterThanOrEqual(2)
  const dump = pieces(noise(3_000_000, 2))
  expect(await count(repository.writeStream(dump, { name: 'dump', yieldWhileBusy }))).toBeGreaterThanOrEqual(2)
  expect(await count(repository.verify('dump', { yieldWhileBusy, onContent() {} }))).toBeGreaterThanOrEqual(2)
})

describe('a tree', () => {
  it('is read back as it was written', async () => {
    const repository = (await store()).backups.repository('site-1')
    const files = { 'a/x': noise(5_000_000), 'a/y': Buffer.from('small'), 'a/empty': Buffer.alloc(0) }
    const facts = await repository.writeTree(source(files), { name: 'b1' })
    expect(facts).toMatchObject({ name: 'b1', kind: 'tree', sizeBytes: 5_000_005, files: 3 })
    expect(await contentsOf(repository, 'b1')).toEqual(hashes(files))
    expect((await repository.verify('b1')).sizeBytes).toBe(5_000_005)
    const others = []
    for await (const entry of repository.entries('b1')) if (entry.kind !== 'file') others.push(entry)
    expect(others).toEqual([
      { kind: 'folder', path: 'a', mode: 0o755, mtimeMs: 1 },
      { kind: 'link', path: 'link', mtimeMs: 3, target: 'a/x' },
    ])
  })

  it('that has not changed is not read again, and costs next to nothing', async () => {
    const repository = (await store()).backups.repository('site-1')
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`a/${n}`, noise(20_000, n)]))
    const first = await repository.writeTree(source(files), { name: 'b1' })
    const read: string[] = []
    const second = await repository.writeTree(source(files, read), { name: 'b2' })
    expect(read).toEqual([])
    expect(second.sizeBytes).toBe(first.sizeBytes)
    expect(second.addedBytes).toBe(0)
    expect(await contentsOf(repository, 'b2')).toEqual(hashes(files))
  })

  it('with one changed byte costs only its chunk', async () => {
    const repository = (await store()).backups.repository('site-1')
    const content = noise(8_000_000)
    await repository.writeTree(source({ x: content }), { name: 'b1' })
    const changed = Buffer.concat([content.subarray(0, 3_000_000), Buffer.from('!'), content.subarray(3_000_000)])
    const { addedBytes } = await repository.writeTree(source({ x: changed }), { name: 'b2' })
    expect(addedBytes).toBeGreaterThan(0)
    expect(addedBytes).toBeLessThan(4_200_000)
    expect(await contentsOf(repository, 'b2')).toEqual(hashes({ x: changed }))
  })
})

describe('a stream', () => {
  it('is read back as it was written, from any byte on', async () => {
    const repository = (await store()).backups.repository('site-1')
    const content = noise(3_000_000)
    const facts = await repository.writeStream(pieces(content), { name: 'b1' })
    expect(facts).toMatchObject({ kind: 'stream', sizeBytes: 3_000_000, files: 0 })
    for (const start of [0, 1, 1_234_567, 2_999_999, 3_000_000])
      expect(hash(await all(repository.readStream('b1', { start })))).toBe(hash(content.subarray(start)))
    const seen: Uint8Array[] = []
    await repository.verify('b1', { onContent: (piece) => void seen.push(piece) })
    expect(hash(Buffer.concat(seen))).toBe(hash(content))
  })
})

it('returns the same backup for the same name', async () => {
  const repository = (await store()).backups.repository('site-1')
  const first = await repository.writeStream(pieces(noise(1000)), { name: 'b1' })
  expect(await repository.writeStream(pieces(noise(5000)), { name: 'b1' })).toEqual(first)
  expect(await repository.list()).toEqual([first])
})

it('shares nothing between owners, and removes them one by one', async () => {
  const { backups } = await store()
  for (const owner of ['site-1', 'site-2'])
    await backups.repository(owner).writeStream(pieces(noise(1000)), { name: 'b1' })
  expect(await backups.owners()).toEqual(['site-1', 'site-2'])
  await backups.removeOwner('site-1')
  expect(await backups.owners()).toEqual(['site-2'])
  expect(await backups.repository('site-1').find('b1')).toBeUndefined()
  await backups.repository('site-2').verify('b1')
})
