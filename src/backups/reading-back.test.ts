/**
 * Tests that written packs are read back before they are reused: during the write, and packs that a dead writer has
 * left.
 */
import { ftruncateSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { contentOfOpenFile } from '../hosting/site-files/stage/pin.ts'
import { type TestBackups, testBackups } from './backup-store.fixture.ts'
import { BackupDamaged, type SourceEntry } from './backup-store.ts'
import type { Storage } from './storage/storage.ts'
import { contentsOf, hash, hashes, noise, source } from './trees.fixture.ts'

const opened: TestBackups[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

async function stand(around?: (storage: Storage) => Storage, folder?: string) {
  const made = await testBackups({ ...(around && { around }), ...(folder && { folder }) })
  opened.push(made)
  return { ...made, repository: made.backups.repository('site-1') }
}

/** Counts the bytes that are read of packs. */
function counted(): { around: (storage: Storage) => Storage; bytes: number } {
  const own = {
    bytes: 0,
    around: (storage: Storage): Storage => ({
      ...storage,
      async get(name, ...rest) {
        const got = await storage.get(name, ...rest)
        if (name.includes('/packs/')) own.bytes += got?.length ?? 0
        return got
      },
    }),
  }
  return own
}

const files = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}`, noise(500_000, n + 1)]))

describe('packs', () => {
  it('are read back once, while others are written, and not again by the verification that follows', async () => {
    const read = counted()
    const { repository } = await stand(read.around)
    const readBack = new Set<string>()
    await repository.writeTree(source(files), { name: 'b1', readBack })
    expect(readBack.size).toBeGreaterThanOrEqual(40)
    expect(read.bytes).toBeGreaterThanOrEqual(20_000_000)
    expect(read.bytes).toBeLessThan(21_000_000)
    read.bytes = 0
    await repository.verify('b1', { only: 'added', readBack })
    // Only the listing is read.
    expect(read.bytes).toBeLessThan(4_000_000)
    expect(await contentsOf(repository, 'b1')).toEqual(hashes(files))
  })

  it('that differ from what was written are damaged, and the file is named', async () => {
    const { repository } = await stand((storage) => ({
      ...storage,
      async put(name, bytes, signal) {
        const changed = Buffer.from(bytes)
        if (name.includes('/packs/')) changed.writeUInt8(changed.readUInt8(1000) ^ 1, 1000)
        await storage.put(name, changed, signal)
      },
    }))
    const readBack = new Set<string>()
    await repository.writeTree(source({ 'one.jpg': noise(400_000, 1), 'two.jpg': noise(400_000, 2) }), {
      name: 'b1',
      readBack,
    })
    const fault = await repository.verify('b1', { only: 'added', readBack }).catch((error) => error)
    expect(fault).toBeInstanceOf(BackupDamaged)
    expect(fault.message).toContain('one.jpg: chunk ')
    expect(fault.message).not.toContain('two.jpg')
  })

  it('that cannot be read make the write fail', async () => {
    const { repository } = await stand((storage) => ({
      ...storage,
      async get(name, ...rest) {
        if (name.includes('/packs/')) throw new Error('the storage is away')
        return storage.get(name, ...rest)
      },
    }))
    const order = { name: 'b1', readBack: new Set<string>() }
    await expect(repository.writeTree(source(files), order)).rejects.toThrow('the storage is away')
    expect(await repository.find('b1')).toBeUndefined()
  })
})

describe('packs that a dead writer has left', () => {
  /** Leaves packs that were never read back. */
  async function left() {
    const own = await stand((storage) => ({
      ...storage,
      async put(name, ...rest) {
        if (name.includes('/indexes/')) throw new Error('dead')
        await storage.put(name, ...rest)
      },
    }))
    await expect(own.repository.writeTree(source(files), { name: 'b1' })).rejects.toThrow('dead')
    const packs = (await own.storage.list('site-1/packs/')).map(({ name }) => name)
    expect(packs.length).toBeGreaterThan(0)
    return { folder: own.folder, packs }
  }

  it('are read back once, by the backup that reuses them', async () => {
    const { folder } = await left()
    const read = counted()
    const { repository } = await stand(read.around, folder)
    await repository.writeTree(source(files), { name: 'b1' })
    read.bytes = 0
    await repository.verify('b1', { only: 'added' })
    expect(read.bytes).toBeGreaterThan(20_000_000)
    await repository.writeTree(source(files), { name: 'b2' })
    read.bytes = 0
    await repository.verify('b2', { only: 'added' })
    expect(read.bytes).toBeLessThan(4_000_000)
  })

  it('are not reused if they are damaged: their content is written again', async () => {
    const { folder, packs } = await left()
    const { repository, storage } = await stand(undefined, folder)
    const bytes = (await storage.get(packs[0] as string)) as Buffer
    bytes.writeUInt8(bytes.readUInt8(1000) ^ 1, 1000)
    await storage.put(packs[0] as string, bytes)
    await repository.writeTree(source(files), { name: 'b1' })
    await repository.verify('b1')
  })
})

describe('damaged packs', () => {
  const damage = async (storage: Storage, pack: string) => {
    const bytes = (await storage.get(pack)) as Buffer
    bytes.writeUInt8(bytes.readUInt8(1000) ^ 1, 1000)
    await storage.put(pack, bytes)
  }
  /** Fails when everything except the backup itself is written. */
  const deadAtLast = (storage: Storage): Storage => ({
    ...storage,
    async putOnce(name, ...rest) {
      if (name.includes('/backups/')) throw new Error('dead')
      return storage.putOnce(name, ...rest)
    },
  })

  it('of a writer that died before it marked them are not reused', async () => {
    const own = await stand((storage) => ({
      ...deadAtLast(storage),
      async put(name, bytes, signal) {
        await storage.put(name, bytes, signal)
        if (name.includes('/packs/')) await damage(storage, name)
      },
    }))
    const write = { name: 'b1', readBack: new Set<string>() }
    await expect(own.repository.writeTree(source(files), write)).rejects.toThrow('dead')
    const { repository } = await stand(undefined, own.folder)
    const readBack = new Set<string>()
    await repository.writeTree(source(files), { name: 'b2', readBack })
    await repository.verify('b2', { only: 'added', readBack })
    expect(await contentsOf(repository, 'b2')).toEqual(hashes(files))
  })

  it('of two writers that died one after the other are not reused either', async () => {
    const first = await stand((storage) => ({
      ...storage,
      async put(name, ...rest) {
        if (name.includes('/indexes/')) throw new Error('dead')
        await storage.put(name, ...rest)
      },
    }))
    await expect(first.repository.writeTree(source(files), { name: 'b1' })).rejects.toThrow('dead')
    const [pack] = await first.storage.list('site-1/packs/')
    await damage(first.storage, (pack as { name: string }).name)
    const second = await stand(deadAtLast, first.folder)
    const write = { name: 'b2', readBack: new Set<string>() }
    await expect(second.repository.writeTree(source(files), write)).rejects.toThrow('dead')
    const { repository } = await stand(undefined, first.folder)
    const readBack = new Set<string>()
    await repository.writeTree(source(files), { name: 'b3', readBack })
    await repository.verify('b3', { only: 'added', readBack })
    expect(await contentsOf(repository, 'b3')).toEqual(hashes(files))
  })
})

describe('open files', () => {
  const entry = (path: string, fd: number): SourceEntry => ({
    kind: 'file',
    path,
    mode: 0o644,
    mtimeMs: 2,
    sizeBytes: 1,
    stamp: path,
    open: async () => contentOfOpenFile(fd),
  })

  it('are read as they are, and others may go first between any two pieces', async () => {
    const { repository, folder } = await stand()
    const contents = { empty: Buffer.alloc(0), large: noise(6_500_000, 3), small: noise(1000, 4) }
    async function* entries() {
      for (const [path, content] of Object.entries(contents)) {
        writeFileSync(join(folder, path), content)
        yield entry(path, openSync(join(folder, path), 'r'))
      }
    }
    let asked = 0
    const yieldWhileBusy = async () => void asked++
    const facts = await repository.writeTree(entries(), { name: 'b1', yieldWhileBusy })
    expect(facts).toMatchObject({ sizeBytes: 6_501_000, files: 3 })
    expect(asked).toBeGreaterThanOrEqual(8)
    expect(await contentsOf(repository, 'b1')).toEqual(hashes(contents))
  })

  it('that become shorter in the meantime are stored as read', async () => {
    const { repository, folder } = await stand()
    const content = noise(3_000_000, 5)
    writeFileSync(join(folder, 'x'), content)
    const fd = openSync(join(folder, 'x'), 'r+')
    async function* entries() {
      yield { ...entry('x', fd), open: async () => cutOff(fd) } as SourceEntry
    }
    const cutOff = (of: number) => {
      const opened = contentOfOpenFile(of)
      ftruncateSync(of, 1_200_000)
      return opened
    }
    const facts = await repository.writeTree(entries(), { name: 'b1' })
    expect(facts.sizeBytes).toBe(1_200_000)
    expect(await contentsOf(repository, 'b1')).toEqual({ x: hash(content.subarray(0, 1_200_000)) })
  })

  it('that cannot be read make the write fail, which closes them', async () => {
    const { repository, folder } = await stand()
    const closed: string[] = []
    const watched = (path: string, fd: number): SourceEntry => {
      const content = contentOfOpenFile(fd)
      const { file } = content
      if (!file) throw new Error('it is a file')
      const close = () => {
        closed.push(path)
        file.close()
      }
      return { ...entry(path, fd), open: async () => ({ ...content, file: { ...file, close } }) } as SourceEntry
    }
    async function* entries() {
      writeFileSync(join(folder, 'x'), 'x')
      yield watched('x', openSync(join(folder, 'x'), 'r'))
      yield watched('folder', openSync(folder, 'r'))
    }
    await expect(repository.writeTree(entries(), { name: 'b1' })).rejects.toThrow('EISDIR')
    expect(closed).toEqual(['x', 'folder'])
    expect(await repository.find('b1')).toBeUndefined()
  })
})
