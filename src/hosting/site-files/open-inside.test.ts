import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inFolder, lookInside, openInside } from './open-inside.ts'

let base: string
let directory: string
let swapper: ChildProcess | undefined

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'stead-inside-'))
  directory = join(base, 'home')
  await mkdir(join(directory, 'web/sub'), { recursive: true })
  await mkdir(join(base, 'outside/sub'), { recursive: true })
  await writeFile(join(directory, 'web/sub/page.txt'), 'inside')
  await writeFile(join(base, 'outside/sub/page.txt'), 'SECRET')
  await writeFile(join(base, 'outside/page.txt'), 'SECRET')
})

afterEach(async () => {
  if (swapper && swapper.exitCode === null) {
    swapper.kill('SIGKILL')
    await once(swapper, 'exit')
  }
  swapper = undefined
  await rm(base, { recursive: true, force: true })
})

async function read(path: string): Promise<string | undefined> {
  const file = await openInside(directory, path)
  if (!file) return undefined
  try {
    return await file.handle.readFile('utf8')
  } finally {
    await file.handle.close()
  }
}

describe('openInside', () => {
  test('opens a regular file and returns its size', async () => {
    expect(await read('web/sub/page.txt')).toBe('inside')
    const file = await openInside(directory, 'web/sub/page.txt')
    expect(file?.stats.size).toBe(6)
    await file?.handle.close()
  })

  test('finds nothing where there is nothing, or a folder', async () => {
    expect(await read('web/none.txt')).toBeUndefined()
    expect(await read('web/sub/page.txt/below')).toBeUndefined()
    expect(await read('web/sub')).toBeUndefined()
    expect(await read(`web/${'long'.repeat(200)}`)).toBeUndefined()
    expect(await openInside(join(base, 'no-home'), 'web/x')).toBeUndefined()
  })

  test('follows no link: not as the last part, on the way, to a place inside, dangling, or in a loop', async () => {
    await symlink(join(base, 'outside/page.txt'), join(directory, 'web/last.txt'))
    await symlink(join(base, 'outside'), join(directory, 'web/folder'))
    await symlink('sub', join(directory, 'web/near'))
    await symlink('nowhere', join(directory, 'web/dangling'))
    await symlink('loop', join(directory, 'web/loop'))
    for (const path of ['last.txt', 'folder/page.txt', 'near/page.txt', 'dangling', 'loop', 'loop/x'])
      expect(await read(`web/${path}`), path).toBeUndefined()
  })

  test('notices a replaced web root', async () => {
    await rename(join(directory, 'web'), join(directory, 'old'))
    await symlink(join(base, 'outside'), join(directory, 'web'))
    expect(await read('web/page.txt')).toBeUndefined()
    await rm(join(directory, 'web'))
    await symlink('old', join(directory, 'web'))
    expect(await read('web/sub/page.txt')).toBeUndefined()
  })

  test('does not hang on a FIFO and opens no device', async () => {
    execFileSync('mkfifo', [join(directory, 'web/fifo')])
    expect(await read('web/fifo')).toBeUndefined()
    await symlink('/dev', join(directory, 'web/dev'))
    expect(await read('web/dev/zero')).toBeUndefined()
  })

  test.skipIf(process.platform !== 'linux')('leaves no descriptor open', async () => {
    const count = () => readdirSync('/proc/self/fd').length
    await read('web/sub/page.txt')
    const before = count()
    for (let i = 0; i < 200; i++) {
      await read('web/sub/page.txt')
      await read('web/none')
      await read('web/sub')
    }
    expect(count()).toBeLessThanOrEqual(before + 2)
  })

  test('throws for every path with an empty, dot or dot-dot part or NUL', async () => {
    for (const path of ['/etc/passwd', 'a//b', '../x', 'a/..', './a', 'a/', 'a\0b'])
      await expect(openInside(directory, path), path).rejects.toThrow(RangeError)
  })

  test('never returns anything from outside, for any path', async () => {
    const part = fc.oneof(
      fc.constantFrom('web', 'sub', 'page.txt', '..', '.', '', 'outside', '\0', '%2e%2e', '\\'),
      fc.string(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
        const text = await read(parts.join('/')).catch((error) => {
          expect(error).toBeInstanceOf(RangeError)
          return undefined
        })
        expect(text === undefined || text === 'inside').toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

test('lookInside distinguishes folders from files and reads the inode that it found', async () => {
  const folder = lookInside(directory, 'web/sub')
  expect(folder?.kind).toBe('directory')
  folder?.close()
  const file = lookInside(directory, 'web/sub/page.txt')
  if (process.platform === 'linux') {
    await rename(join(directory, 'web/sub/page.txt'), join(directory, 'web/sub/moved.txt'))
    await symlink(join(base, 'outside/page.txt'), join(directory, 'web/sub/page.txt'))
  }
  const handle = await file!.open()
  expect(await handle.readFile('utf8')).toBe('inside')
  await handle.close()
  expect(file!.read(2, 100).toString()).toBe('side')
  file?.close()
  file?.close()
})

test.skipIf(process.platform !== 'linux')(
  'inFolder works in the folder that it found, even if that is swapped in the meantime',
  async () => {
    await inFolder(directory, 'web/sub', async (folder) => {
      await rename(join(directory, 'web/sub'), join(directory, 'web/moved'))
      await symlink(join(base, 'outside'), join(directory, 'web/sub'))
      await writeFile(`${folder}/new.txt`, 'new', { flag: 'wx' })
    })
    expect(await readFile(join(directory, 'web/moved/new.txt'), 'utf8')).toBe('new')
    expect(readdirSync(join(base, 'outside')).sort()).toEqual(['page.txt', 'sub'])
    expect(await inFolder(directory, 'web/sub', async () => 'ran')).toBeUndefined()
  },
)

// The hostile site: another process swaps a folder, and a file, for links to secrets as fast as it can.
const SWAPPER = `
  const fs = require('node:fs'); const [web, outside] = process.argv.slice(1); process.chdir(web)
  fs.symlinkSync(outside + '/sub', 'link'); fs.symlinkSync(outside + '/page.txt', 'filelink'); fs.writeFileSync('file', 'inside')
  process.stdout.write('ready')
  for (;;) {
    fs.renameSync('sub', 'away'); fs.renameSync('link', 'sub'); fs.renameSync('sub', 'link'); fs.renameSync('away', 'sub')
    fs.renameSync('file', 'faway'); fs.renameSync('filelink', 'file'); fs.renameSync('file', 'filelink'); fs.renameSync('faway', 'file')
  }`

test('a folder and a file that are swapped in a race never leak', async () => {
  swapper = spawn(process.execPath, ['-e', SWAPPER, join(directory, 'web'), join(base, 'outside')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(swapper.stdout!, 'data')
  const seen = new Map<string | undefined, number>()
  const tally = (text: string | undefined) => seen.set(text, (seen.get(text) ?? 0) + 1)
  for (let i = 0; i < 3000; i++) {
    tally(await read('web/sub/page.txt'))
    tally(await read('web/file'))
  }
  expect(seen.has('SECRET')).toBe(false)
  expect(seen.get('inside')).toBeGreaterThan(0)
  expect(seen.get(undefined)).toBeGreaterThan(0)
})
