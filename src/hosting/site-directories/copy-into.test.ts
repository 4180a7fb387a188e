import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { smallDisk } from '../../../test/support/small-disk.ts'
import { copyInto } from './copy-into.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-copy-'))
  await mkdir(join(folder, 'web/below'), { recursive: true, mode: 0o750 })
  await mkdir(join(folder, 'home'))
})
afterEach(() => rm(folder, { recursive: true }))

test('keeps content, times, modes, and links when it copies', async () => {
  const file = join(folder, 'web/below/index.php')
  await writeFile(file, '<?php', { mode: 0o640 })
  await utimes(file, 1_700_000_000, 1_700_000_000)
  await symlink('../nowhere', join(folder, 'web/link'))
  await copyInto(join(folder, 'home'), [join(folder, 'web')])
  const copy = join(folder, 'home/web')
  expect(await readFile(join(copy, 'below/index.php'), 'utf8')).toBe('<?php')
  const { mode, mtimeMs } = await stat(join(copy, 'below/index.php'))
  expect([(mode & 0o777).toString(8), mtimeMs]).toEqual(['640', 1_700_000_000_000])
  expect(((await stat(join(copy, 'below'))).mode & 0o777).toString(8)).toBe('750')
  expect(await readlink(join(copy, 'link'))).toBe('../nowhere')
})

test('names a missing source in its error', async () => {
  await expect(copyInto(join(folder, 'home'), [join(folder, 'gone')])).rejects.toThrow(join(folder, 'gone'))
})

test.skipIf(process.getuid?.() !== 0)('reports a full disk as ENOSPC', async () => {
  const disk = await smallDisk(1)
  try {
    await writeFile(join(folder, 'web/large'), Buffer.alloc(2 << 20))
    await expect(copyInto(disk.folder, [join(folder, 'web')])).rejects.toMatchObject({ code: 'ENOSPC' })
  } finally {
    await disk.remove()
  }
})

test('reports a full disk whatever the language of the machine', async () => {
  const says = `[ "$LC_ALL" = C ] && echo 'No space left on device' || echo 'Auf dem Gerät ist kein Speicherplatz mehr verfügbar'`
  await writeFile(join(folder, 'cp'), `#!/bin/sh\n(${says}) >&2\nexit 1`, { mode: 0o755 })
  const { LC_ALL, PATH } = process.env
  Object.assign(process.env, { LC_ALL: 'de_DE.UTF-8', PATH: `${folder}:${PATH}` })
  try {
    await expect(copyInto(join(folder, 'home'), [join(folder, 'web')])).rejects.toMatchObject({ code: 'ENOSPC' })
  } finally {
    process.env.PATH = PATH
    if (LC_ALL === undefined) delete process.env.LC_ALL
    else process.env.LC_ALL = LC_ALL
  }
})

test.skipIf(!existsSync('/usr/bin/setpriv'))('stops copying when the host is killed', async () => {
  const pidFile = join(folder, 'pid')
  await writeFile(
    join(folder, 'cp'),
    `#!/bin/sh\necho $$ > ${pidFile}.new && mv ${pidFile}.new ${pidFile}\nexec sleep 60`,
    {
      mode: 0o755,
    },
  )
  const code = `import { copyInto } from '${import.meta.dirname}/copy-into.ts'; await copyInto('/', ['/'])`
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
  const host = spawn(process.execPath, ['--input-type=module', '--eval', code], { env, stdio: 'ignore' })
  try {
    await expect.poll(() => existsSync(pidFile)).toBe(true)
    const pid = (await readFile(pidFile, 'utf8')).trim()
    // An exited process keeps its entry until a parent reaps it.
    const runs = async () => /\) [^Z]/.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))
    expect(await runs()).toBe(true)
    host.kill('SIGKILL')
    await expect.poll(runs).toBe(false)
  } finally {
    host.kill('SIGKILL')
  }
})
