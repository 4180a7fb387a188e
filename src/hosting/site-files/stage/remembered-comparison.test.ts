/** Tests of copies of sites, whose files are compared more than once and read only when something has changed. */
import { readdirSync, readFileSync } from 'node:fs'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { WantedEntry } from '../file-content.ts'
import { SiteFiles } from '../site-files.ts'
import { newDirectory, walkHere } from '../trees.fixture.ts'

const plain = { quotaOf: async () => undefined, keepFreeBytes: 0, granularityMs: 0, walk: walkHere }
const files = new SiteFiles(plain)
const options = { scope: { paths: [''] }, isCopy: true }
let directory: Awaited<ReturnType<typeof newDirectory>>
let read: string[]
beforeEach(async () => {
  directory = await newDirectory()
  read = []
})
afterEach(() => directory.remove())

/** Two files of a backup. A stamp changes with the content. */
async function* backup(texts: Record<string, string> = {}): AsyncGenerator<WantedEntry> {
  for (const [path, text] of Object.entries({ a: 'one', b: 'two', ...texts })) {
    const open = async () => {
      read.push(path)
      return (async function* () {
        yield Buffer.from(text)
      })()
    }
    yield { kind: 'file', path, mode: 0o644, mtimeMs: 1000, sizeBytes: text.length, stamp: `of ${text}`, open }
  }
}
async function put(texts?: Record<string, string>) {
  await files.prepare(directory, backup(texts), options)
  await files.switch(directory)
  await files.cleanUp(directory)
}
const compare = async (texts?: Record<string, string>) => {
  read = []
  const { written, removed } = await files.compare(directory, backup(texts), options)
  return { differs: [...written.first, ...removed.first], read }
}

test('the first comparison reads all files, and the next ones only what has changed at the source', async () => {
  await put()
  expect(await compare()).toEqual({ differs: [], read: ['a', 'b'] })
  expect(await compare()).toEqual({ differs: [], read: [] })
  read = []
  await put({ b: 'new' })
  expect(read).toEqual(['b', 'b'])
  expect(await compare({ b: 'new' })).toEqual({ differs: [], read: ['b'] })
  expect(await compare({ b: 'new' })).toEqual({ differs: [], read: [] })
})

test('a file that was changed here is read again, even with its length and its time, and replaced', async () => {
  await put()
  await compare()
  await writeFile(join(directory.web, 'a'), 'ONE')
  await utimes(join(directory.web, 'a'), 1, 1)
  expect(await compare()).toEqual({ differs: ['a'], read: ['a'] })
  await put()
  expect(readFileSync(join(directory.web, 'a'), 'utf8')).toBe('one')
  expect((await compare()).differs).toEqual([])
})

test('its file is out of the reach of the site, and is deleted when the move ends', async () => {
  await put()
  await compare()
  expect(readdirSync(directory.siteDirectory).sort()).toEqual(['compared', 'private', 'web'])
  await files.forgetCompared(directory)
  expect(readdirSync(directory.siteDirectory).sort()).toEqual(['private', 'web'])
  expect((await compare()).read).toEqual(['a', 'b'])
})

test('the quota of a site does not count for its copy', async () => {
  const quotaOf = async () => ({ bytes: 1, files: 1 })
  const small = new SiteFiles({ ...plain, quotaOf: quotaOf as never })
  await expect(small.prepare(directory, backup(), { scope: options.scope })).rejects.toThrow()
  expect((await small.prepare(directory, backup(), options)).written.count).toBe(2)
})
