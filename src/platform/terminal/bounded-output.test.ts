import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BoundedOutput, type TryWrite } from './bounded-output.ts'

/** Creates a reader with space for this many bytes, until it reads. */
function readerOf(room: number) {
  let left = room
  const read: string[] = []
  const tryWrite: TryWrite = (bytes) => {
    const taken = Math.min(left, bytes.length)
    if (taken === 0) return 'full'
    left -= taken
    read.push(bytes.subarray(0, taken).toString())
    return taken
  }
  return {
    tryWrite,
    makeRoom: () => {
      left = Number.POSITIVE_INFINITY
    },
    text: () => read.join(''),
  }
}

describe('an output that never waits', () => {
  test('delivers later, in order, what a slow reader cannot take', () => {
    const reader = readerOf(7)
    const output = new BoundedOutput(reader.tryWrite)
    for (const line of ['first\n', 'second\n', 'third\n']) output.write(line)
    expect(reader.text()).toBe('first\ns')
    reader.makeRoom()
    output.flush()
    expect(reader.text()).toBe('first\nsecond\nthird\n')
  })

  test('drops lines beyond its limit, and reports their number where they are missing', () => {
    const reader = readerOf(0)
    const output = new BoundedOutput(reader.tryWrite, { mostBytes: 12 })
    for (let n = 1; n <= 9; n++) output.write(`line ${n}\n`)
    // This would fit, and would come before the missing lines.
    output.write('\n')
    reader.makeRoom()
    output.write('after\n')
    expect(reader.text()).toBe('line 1\nStead dropped 9 lines of output here.\nafter\n')
    output.write('later\n')
    expect(reader.text().endsWith('after\nlater\n')).toBe(true)
  })

  test('delivers the rest to a slow reader without another line', async () => {
    const reader = readerOf(0)
    const told = Promise.withResolvers<void>()
    const output = new BoundedOutput(
      (bytes) => {
        const written = reader.tryWrite(bytes)
        if (reader.text().includes('dropped')) told.resolve()
        return written
      },
      { mostBytes: 6 },
    )
    output.write('first\n')
    output.write('second\n')
    const keepsAlive = setInterval(() => {}, 1000)
    reader.makeRoom()
    await told.promise
    clearInterval(keepsAlive)
    expect(reader.text()).toBe('first\nStead dropped 1 line of output here.\n')
  })

  test('does not wait at the end for a reader that has ended', () => {
    let tries = 0
    const output = new BoundedOutput(() => {
      tries++
      return 'failed'
    })
    output.write('line\n')
    output.flush()
    // The line, and two attempts to report that it is missing.
    expect(tries).toBe(3)
  })
})

/** Returns a program that logs about as many kB as lines, and dies. */
const dies = (lines: number, atOnce = 100) => `
  import { execFileSync } from 'node:child_process'
  import { writeSync } from 'node:fs'
  import { createLog } from ${JSON.stringify(new URL('../log/log.ts', import.meta.url).href)}
  const log = createLog({ logLevel: 'trace', logFormat: 'json' }, 'host')
  log.info('it starts')
  // a process with the same output makes writes wait, for all that have it
  execFileSync('true', { stdio: 'inherit' })
  const write = (left) => {
    for (let each = 0; each < ${atOnce}; each++) log.trace({ left, filler: 'x'.repeat(900) }, 'a line')
    if (left > ${atOnce}) return setImmediate(write, left - ${atOnce})
    log.fatal('the last words')
    writeSync(2, 'it is about to end')
    process.exit(3)
  }
  write(${lines})`
const start = (code: string, stdout: 'pipe' | number) =>
  spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', code], {
    stdio: ['ignore', stdout, 'pipe'],
  })

describe('a process that logs more than fits, and dies', () => {
  let folder: string
  /** The reading end of a pipe that is not read yet. */
  let reader: number
  let writer: number
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-output-'))
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    writer = openSync(path, constants.O_WRONLY)
  })
  afterEach(async () => {
    closeSync(reader)
    await rm(folder, { recursive: true })
  })

  test('ends with an unread pipe, and leaves whole lines in it', async () => {
    const run = start(dies(3000), writer)
    closeSync(writer)
    expect(await once(run, 'exit')).toEqual([3, null])
    const lines = readFileSync(reader, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).part)).toEqual(lines.map(() => 'host'))
  })

  test('ends with an unread socket', async () => {
    // Node provides a socket, and reads no more of it than its buffer takes.
    expect(await once(start(dies(3000), 'pipe'), 'exit')).toEqual([3, null])
  })

  test('waits for an active reader, which gets everything', async () => {
    const run = start(dies(800, 800), writer)
    closeSync(writer)
    await once(run.stderr as Readable, 'data')
    // The process is about to end, and the pipe is full.
    const lines = (await readFile(`/proc/self/fd/${reader}`, 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(802)
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ level: 60, part: 'host', msg: 'the last words' })
  })
})
