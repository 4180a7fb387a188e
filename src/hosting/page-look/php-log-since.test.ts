import { appendFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endOfLog, isErrorMessage, isWarningMessage, kindsSince } from './php-log-since.ts'

let site: string
let log: string
beforeEach(async () => {
  site = await mkdtemp(join(tmpdir(), 'stead-look-'))
  await mkdir(join(site, 'private'))
  log = join(site, 'private/php-error.log')
})
afterEach(() => rm(site, { recursive: true }))

const line = (text: string) => `[21-Nov-2026 02:39:38 UTC] ${text}\n`
const warning = (message: string, number = 3) =>
  line(`PHP Warning:  ${message} in /wordpress/wp-content/plugins/forms/forms.php on line ${number}`)

test('returns the kinds of messages since a place, each once', async () => {
  await writeFile(log, warning('old'))
  const place = endOfLog(site)
  await appendFile(
    log,
    warning('fresh 1') +
      warning('fresh 2', 9) +
      line('PHP Fatal error:  Uncaught Error in /wordpress/wp-includes/x.php on line 1'),
  )
  const kinds = kindsSince(site, place)
  expect(kinds.map(({ severity, message, kind, name }) => [severity, message, kind, name])).toEqual([
    ['Warning', 'fresh 1', 'plugin', 'forms'],
    ['Fatal error', 'Uncaught Error', 'core', 'wordpress'],
  ])
  expect(kinds.map(isErrorMessage)).toEqual([false, true])
  expect(kinds.map(isWarningMessage)).toEqual([true, false])
  expect(kindsSince(site, endOfLog(site))).toEqual([])
})

test('knows a warning of a plugin in another of its files, and an error only in the same one', async () => {
  const inFile = (text: string, file: string) => line(`PHP ${text} in /wordpress/wp-content/plugins/${file} on line 3`)
  const keysOf = async (file: string) => {
    await writeFile(log, inFile('Warning:  No key "a7f3"', file) + inFile('Fatal error:  Uncaught Error', file))
    return kindsSince(site, null).map(({ key }) => key)
  }
  const [warning, error] = await keysOf('forms/old.php')
  expect((await keysOf('forms/src/new.php')).map((key) => [warning, error].indexOf(key))).toEqual([0, -1])
  expect((await keysOf('mail/old.php')).map((key) => [warning, error].indexOf(key))).toEqual([-1, -1])
})

test('also reads a log that was rotated meanwhile', async () => {
  await writeFile(log, warning('old'))
  const place = endOfLog(site)
  await appendFile(log, warning('before it'))
  await rename(log, `${log}.1`)
  await writeFile(log, warning('after it'))
  expect(kindsSince(site, place).map(({ message }) => message)).toEqual(['before it', 'after it'])
})

test('finds nothing without a log, and follows no link', async () => {
  expect([endOfLog(site), kindsSince(site, null)]).toEqual([null, []])
  await writeFile(join(site, 'secret'), warning('secret'))
  await symlink('../secret', log)
  expect([endOfLog(site), kindsSince(site, null)]).toEqual([null, []])
})
