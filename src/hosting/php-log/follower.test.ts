import { execFileSync } from 'node:child_process'
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LogRecord } from '../../platform/log-store/log-store.ts'
import { PhpLogFollower } from './follower.ts'
import { debugLogIn } from './log-file.ts'
import { phpEntryOf } from './php-records.ts'
import { type LogPlaces, openPlaces } from './positions.ts'

let folder: string
let directory: string
let log: string
let stored: Map<string, LogRecord>
let fails: boolean
let places: LogPlaces
let warnings: object[]
const site = () => ({ siteId: 5, siteDirectory: directory })

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-php-log-'))
  directory = join(folder, 'h1')
  log = join(directory, 'private/php-error.log')
  await mkdir(join(directory, 'private'), { recursive: true })
  stored = new Map()
  fails = false
  warnings = []
  places = openPlaces(join(folder, 'logs/places.db'))
})
afterEach(async () => {
  places.close()
  await rm(folder, { recursive: true })
})

const store = {
  async append(_kind: string, records: readonly LogRecord[]) {
    if (fails) throw new Error('no')
    for (const each of records) stored.set(`${each.atMs} ${each.id}`, each)
  },
}
const follower = (limits = {}) =>
  new PhpLogFollower({
    running: () => [site()],
    all: async () => [],
    store,
    places,
    log: { warn: (facts) => void warnings.push(facts) },
    limits,
  })
const messages = () =>
  [...stored.values()].sort((a, b) => a.atMs - b.atMs || a.id - b.id).map((record) => phpEntryOf(record).message)

/** Returns a line as PHP writes it, with a precision of one second. */
const line = (text: string, at = Date.now()) => {
  const time = new Date(at).toUTCString().replace(/^\w+, (\d\d) (\w{3}) (\d{4}) ([\d:]+) GMT$/, '$1-$2-$3 $4')
  return `[${time} UTC] ${text}\n`
}
/** Makes the log look as if PHP has been quiet since. */
const settle = async (file = log) => {
  const before = new Date(Date.now() - 2000)
  await utimes(file, before, before)
}
const write = async (text: string) => {
  await appendFile(log, text)
  await settle()
}

test('reads entries once, in the order of the file, with PHP’s time', async () => {
  const at = Date.now() - 60_000
  await write(line('one', at) + line('two\nlines', at) + line('PHP Warning:  three in /wordpress/a.php on line 7', at))
  const followed = follower()
  await followed.pass()
  await followed.pass()
  expect(messages()).toEqual(['one', 'two\nlines', 'three'])
  const [first, , third] = [...stored.values()]
  expect(first?.atMs).toBe(Math.floor(at / 1000) * 1000)
  expect(phpEntryOf(third as LogRecord)).toMatchObject({ severity: 'Warning', file: 'a.php', line: 7, siteId: 5 })
  await write(line('four'))
  await followed.pass()
  expect(messages()).toEqual(['one', 'two\nlines', 'three', 'four'])
})

test("also reads WordPress’ debug log, at the path that the site's wp-config.php names", async () => {
  const debug = join(directory, 'web/wp-content/debug.log')
  await mkdir(join(directory, 'web/wp-content/logs'), { recursive: true })
  await writeFile(debug, line('long ago', Date.now() - 3_600_000) + line('just now'))
  await settle(debug)
  await write(line('just now'))
  const followed = follower()
  await followed.pass()
  await followed.pass()
  // Each log has its own position and IDs, so the same entry in both counts twice.
  expect(messages()).toEqual(['just now', 'just now'])
  await appendFile(debug, line('more'))
  await settle(debug)
  await followed.pass()
  await follower().pass()
  expect(messages()).toEqual(['just now', 'just now', 'more'])
  await writeFile(
    join(directory, 'web/wp-config.php'),
    "<?php\ndefine( 'WP_DEBUG_LOG', WP_CONTENT_DIR . '/logs/own.log' );\n",
  )
  await writeFile(join(directory, 'web/wp-content/logs/own.log'), line('elsewhere'))
  await settle(join(directory, 'web/wp-content/logs/own.log'))
  await followed.pass()
  expect(messages()).toContain('elsewhere')
  expect(await readFile(debug, 'utf8')).toContain('more')
})

test.each([
  ["define('WP_DEBUG_LOG', true);", undefined],
  ["define('WP_DEBUG_LOG', '/private/logs/debug.log');", 'private/logs/debug.log'],
  ['define( "WP_DEBUG_LOG", "/wordpress/a.log" );', 'web/a.log'],
  ["define('WP_DEBUG_LOG', __DIR__ . '/b.log');", 'web/b.log'],
  ["define('WP_DEBUG_LOG', ABSPATH . 'c.log');", 'web/c.log'],
  ["if (true) define('WP_DEBUG_LOG', '/tmp/d.log');", 'private/tmp/d.log'],
  ["// define('WP_DEBUG_LOG', '/tmp/d.log');", undefined],
  ["define('WP_DEBUG_LOG', '/wordpress/../x');", undefined],
  ["define('WP_DEBUG_LOG', '/etc/passwd');", undefined],
  ["define('WP_DEBUG_LOG', '/private/php-error.log');", undefined],
])('finds that %s names %s', (config, path) => expect(debugLogIn(`<?php\n${config}\n`)).toBe(path))

test('waits with an entry that PHP may still be writing', async () => {
  await appendFile(log, `${line('whole')}[21-`)
  const followed = follower()
  await followed.pass()
  expect(messages()).toEqual([])
  await writeFile(log, line('whole') + line('half').slice(0, 40))
  await followed.pass()
  expect(messages()).toEqual(['whole'])
  await writeFile(log, line('whole') + line('half'))
  await settle()
  await followed.pass()
  expect(messages()).toEqual(['whole', 'half'])
})

test('does not wait an hour for the last entry because the clock was set back one', async () => {
  await appendFile(log, line('last').trimEnd())
  const written = new Date(Date.now() + 3_600_000)
  await utimes(log, written, written)
  const followed = follower()
  await followed.pass()
  expect(messages()).toEqual(['last'])
})

test('reads entries again that were not stored, and stores nothing twice after a crash', async () => {
  await write(line('one') + line('two'))
  fails = true
  await expect(follower().pass()).rejects.toThrow('no')
  fails = false
  await follower().pass()
  // Stored, but the position was not saved, as if the host was killed right there.
  const place = places.get(5)
  await write(line('three'))
  await follower().pass()
  places.save(new Map([[5, place]]))
  await follower().pass()
  places.close()
  places = openPlaces(join(folder, 'logs/places.db'))
  await follower().pass()
  expect(messages()).toEqual(['one', 'two', 'three'])
})

test('reads an emptied or replaced log from its start', async () => {
  await write(line('one') + line('two'))
  const followed = follower()
  await followed.pass()
  await truncate(log)
  await write(line('x'))
  await followed.pass()
  await rm(log)
  await followed.pass()
  await write(line('replaced'))
  await followed.pass()
  // Entries of one second, in files of the same name, in any order.
  expect(messages().sort()).toEqual(['one', 'replaced', 'two', 'x'])
})

test('rotates a long log, reads it to its end, and removes it without losing anything', async () => {
  const followed = follower({ entriesPerSecond: 1e6, burst: 1e6, backlogBytes: 1e9, passMs: 60_000 })
  const long = 'y'.repeat(1000)
  const numbers = Array.from({ length: 5000 }, (_, n) => n)
  for (const half of [numbers.slice(0, 2500), numbers.slice(2500)]) {
    await write(half.map((n) => line(`${n} ${long}`)).join(''))
    await followed.pass()
  }
  // The first pass over the long log rotated it, with most of it unread.
  expect(await readdir(join(directory, 'private'))).toEqual(['php-error.log.1'])
  await write(line('in the new one', Date.now() + 2000))
  while ((await readdir(join(directory, 'private'))).length > 1) await followed.pass()
  await followed.pass()
  expect(await readdir(join(directory, 'private'))).toEqual(['php-error.log'])
  expect(messages().map((text) => text.split(' ')[0])).toEqual([...numbers.map(String), 'in'])
})

test('limits the cost of a site that writes endlessly, and reports what is dropped', async () => {
  const followed = follower({ burst: 100, entriesPerSecond: 0 })
  for (let round = 0; round < 6; round++) {
    await write(Array.from({ length: 20_000 }, (_, n) => line(`${round} ${n} ${'z'.repeat(60)}`)).join(''))
    await followed.pass()
  }
  const all = messages()
  expect(all.filter((text) => !text.startsWith('…'))).toHaveLength(100)
  expect(all.filter((text) => /^… .*dropped/.test(text)).length).toBeGreaterThan(1)
  expect(all.some((text) => /MB of messages/.test(text))).toBe(true)
  expect(all.length).toBeLessThan(120)
  for (let n = 0; n < 4; n++) await followed.pass()
  const left = await Promise.all(
    (await readdir(join(directory, 'private'))).map((name) => stat(join(directory, 'private', name))),
  )
  expect(left.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(4 << 20)
})

test('ignores links, folders, pipes, and anything else in place of the log', async () => {
  const secret = join(folder, 'secret.log')
  await writeFile(secret, line('secret'))
  const followed = follower()
  const settled = async () => {
    await followed.pass()
    await followed.pass()
    expect(messages()).toEqual([])
  }
  await symlink(secret, log)
  await settled()
  await rm(log)
  await mkdir(log)
  await settled()
  await rm(log, { recursive: true })
  execFileSync('mkfifo', [log])
  await settled()
  await rm(join(directory, 'private'), { recursive: true })
  await mkdir(join(folder, 'elsewhere'))
  await writeFile(join(folder, 'elsewhere/php-error.log'), 'x'.repeat(5 << 20))
  await symlink(join(folder, 'elsewhere'), join(directory, 'private'))
  await settled()
  expect(await readdir(join(folder, 'elsewhere'))).toEqual(['php-error.log'])
  await rm(directory, { recursive: true })
  await settled()
  expect(await readFile(secret, 'utf8')).toContain('secret')
  expect(warnings).toEqual([])
})

test('limits a log even if a folder blocks the place of the old log', async () => {
  await mkdir(`${log}.1/x`, { recursive: true })
  const followed = follower({ passMs: 60_000 })
  await write(line('a'.repeat(5 << 20)))
  await followed.pass()
  expect(await readdir(join(directory, 'private'))).toEqual(['php-error.log.1'])
  await write(line('goes on'))
  await followed.pass()
  expect(messages().at(-1)).toBe('goes on')
})

test('turns binary, huge, and undated lines into entries of limited length with a plausible time', async () => {
  const followed = follower()
  await write(`${line('q'.repeat(100_000))}${line('next')}`)
  await appendFile(log, Buffer.from([0, 255, 254, 10, 0, 91, 10]))
  await write(
    line('[01-Jan-1970 00:00:00 UTC] inside') +
      line('PHP Warning:  old in /x on line 1', 0) +
      line('late', Date.now() + 9e8),
  )
  for (let n = 0; n < 3; n++) await followed.pass()
  expect(messages().every((text) => text.length <= 8193)).toBe(true)
  expect(messages()).toContain('old')
  for (const { atMs } of stored.values()) expect(Math.abs(atMs - Date.now())).toBeLessThan(600_000)
})
