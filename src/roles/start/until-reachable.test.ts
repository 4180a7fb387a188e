import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { databaseLost } from '../../platform/db/open-fault.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { untilReachable } from './until-reachable.ts'

const where = { url: 'postgres://stead:secret@db.test/stead', file: '' }
const starting = databaseLost({ code: '57P03' }, where)

test('waits for a database server that starts, and reports it once', async () => {
  const said: string[] = []
  let tries = 0
  const open = async () => {
    if (++tries < 4) throw starting
    return 'open'
  }
  expect(await untilReachable(open, { againMs: 1, say: (text) => said.push(text) })).toBe('open')
  expect(tries).toBe(4)
  expect(said).toEqual([
    'The PostgreSQL database db.test/stead cannot be reached (57P03). Check STEAD_DATABASE_URL. Stead retries for 60 s.',
  ])
})

test('gives up after the time, with the reason', async () => {
  const open = () => Promise.reject(starting)
  const done = untilReachable(open, { waitMs: 0, say: () => {} })
  await expect(done).rejects.toMatchObject({
    exitCode: 1,
    message:
      'Stead waited 0 s. The PostgreSQL database db.test/stead cannot be reached (57P03). Check STEAD_DATABASE_URL.',
  })
})

test('does not wait after any other error', async () => {
  let tries = 0
  const open = () => {
    tries++
    return Promise.reject(new OperatorError('the password is wrong'))
  }
  await expect(untilReachable(open)).rejects.toThrow('the password is wrong')
  expect(tries).toBe(1)
})

const launcher = join(import.meta.dirname, '../../../bin/stead.js')

test('Ctrl-C ends a start that waits for its database, and says so', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stead-ctrl-c-'))
  const { PATH = '' } = process.env
  const env = { PATH, STEAD_DATA_DIR: folder, STEAD_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }
  // A terminal signals the whole group.
  const child = spawn(process.execPath, [launcher, 'serve'], {
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    let text = ''
    const waits = Promise.withResolvers<void>()
    child.stderr.on('data', (bytes) => {
      text += bytes
      if (text.includes('Stead retries')) waits.resolve()
    })
    await waits.promise
    process.kill(-(child.pid as number), 'SIGINT')
    expect(await once(child, 'close')).toEqual([130, null])
    expect(text).toMatch(/\nStopped before Stead has started\.\n$/)
  } finally {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true })
  }
})
