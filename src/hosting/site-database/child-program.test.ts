import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { childProgram } from './child-program.ts'

const run = promisify(execFile)
let cache: string
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'stead-cache-'))
})
afterEach(() => rm(cache, { recursive: true }))

test('gives two simultaneous callers one program, which runs without types', async () => {
  const [one, other] = await Promise.all([childProgram(cache), childProgram(cache)])
  expect(other).toEqual(one)
  expect(await readdir(cache)).toHaveLength(1)
  expect(one.script).toBe('child/main.js')
  // No table can be read, because this database does not exist.
  const order = JSON.stringify({ kind: 'dump', folder: join(cache, 'none'), uid: null, tables: null })
  const ended = run(process.execPath, ['--no-warnings', join(one.folder, one.script), order])
  await expect(ended).rejects.toMatchObject({ stderr: expect.stringContaining('unable to open database file') })
})

test('runs the sources if there is no persistent cache', async () => {
  expect(await childProgram('')).toMatchObject({ script: 'child/main.ts' })
})
