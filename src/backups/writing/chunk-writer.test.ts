import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { idText } from '../format/chunk.ts'
import { contentName, repositoryKeys } from '../format/keys.ts'
import type { Pack } from '../format/pack.ts'
import { ChunkWriter } from './chunk-writer.ts'

const content = Buffer.from('the same words in two backups')
const keysOf = (owner: string) => repositoryKeys(Buffer.alloc(32, 7), owner)
const none: Uint8Array = new Uint8Array()

async function write(owner: string, known = none) {
  const packs: Pack[] = []
  const keys = keysOf(owner)
  const writer = new ChunkWriter({ keys, known, onPack: async (pack) => void packs.push(pack) })
  const chunk = await writer.chunk(content)
  await writer.finish()
  await writer.close()
  return { id: chunk.id, expected: idText(contentName(keys, content)), packs: packs.length }
}

test('uses neither chunks nor keys of one owner for the next in the same thread', async () => {
  const first = await write('site-1')
  const second = await write('site-2')
  const again = await write('site-2')
  for (const { id, expected, packs } of [first, second, again]) {
    expect(id).toBe(expected)
    expect(packs).toBe(1)
  }
  expect(second.id).not.toBe(first.id)
})

test('puts no known chunks into a pack', async () => {
  expect((await write('site-1', contentName(keysOf('site-1'), content))).packs).toBe(0)
})

test('fails if a pack cannot be stored, and writes the next backup in a new thread', async () => {
  const writer = new ChunkWriter({
    keys: keysOf('site-1'),
    known: none,
    onPack: () => Promise.reject(new Error('no room')),
  })
  const written = writer.content('file')
  await written.write(randomBytes(100_000))
  await written.end()
  await expect(writer.finish()).rejects.toThrow('no room')
  await writer.close()
  expect((await write('site-1')).packs).toBe(1)
})
