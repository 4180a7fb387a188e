import { describe, expect, test } from 'vitest'
import { sealChunk } from '../format/chunk.ts'
import { contentName, repositoryKeys } from '../format/keys.ts'
import { noise } from '../trees.fixture.ts'
import { ChunkOpener } from './chunk-opener.ts'

const keys = repositoryKeys(Buffer.alloc(32, 1), 'site-1')

function chunkOf(content: Buffer) {
  const id = contentName(keys, content)
  return { keys, id, sizeBytes: content.length, sealed: Buffer.concat(sealChunk(keys, id, content)) }
}

describe.each([
  { size: 'small', bytes: 1000 },
  { size: 'large', bytes: 2 << 20 },
])('a $size chunk', ({ bytes }) => {
  test('is opened to its own content, however many are requested at once', async () => {
    const opener = new ChunkOpener()
    const contents = [noise(bytes, 1), Buffer.alloc(bytes, 'text'), noise(bytes, 2)]
    const opened = await Promise.all(contents.map((each) => opener.open(chunkOf(each))))
    expect(opened.map((each, index) => each?.equals(contents[index] as Buffer))).toEqual([true, true, true])
  })

  test('that differs from what was written gives nothing, and the next one is opened', async () => {
    const opener = new ChunkOpener()
    const chunk = chunkOf(noise(bytes))
    const changed = Buffer.from(chunk.sealed)
    changed.writeUInt8(changed.readUInt8(100) ^ 1, 100)
    expect(await opener.open({ ...chunk, sealed: changed })).toBeUndefined()
    expect((await opener.open(chunk))?.equals(noise(bytes))).toBe(true)
  })
})

test('keeps the event loop running while a large chunk is opened', async () => {
  const opener = new ChunkOpener()
  const chunk = chunkOf(noise(4 << 20))
  let hasTurned = false
  setImmediate(() => {
    hasTurned = true
  })
  await opener.open(chunk)
  expect(hasTurned).toBe(true)
})
