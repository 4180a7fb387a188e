import { lstatSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sayInPhpLog } from './say.ts'

let siteDirectory: string
const log = () => join(siteDirectory, 'private/php-error.log')
beforeEach(async () => {
  siteDirectory = await mkdtemp(join(tmpdir(), 'stead-say-'))
  await mkdir(join(siteDirectory, 'private'))
})
afterEach(() => rm(siteDirectory, { recursive: true, force: true }))

test('writes a line of Stead to the PHP log in PHP’s format, whatever the text', async () => {
  const site = { siteDirectory, uid: null }
  await sayInPhpLog(site, 'the event a\nb was cut off', new Date('2026-03-04T05:06:07Z'))
  await sayInPhpLog(site, 'x'.repeat(5000), new Date('2026-12-24T15:16:17Z'))
  const [first, second, rest] = (await readFile(log(), 'utf8')).split('\n')
  expect(first).toBe('[04-Mar-2026 05:06:07 UTC] Stead: the event a b was cut off')
  expect([second?.length, rest]).toEqual(['[24-Dec-2026 15:16:17 UTC] Stead: '.length + 2000, ''])
})

test('writes nothing through a link that the site has put there', async () => {
  const outside = join(siteDirectory, 'outside')
  await writeFile(outside, 'mine')
  await symlink(outside, log())
  await expect(sayInPhpLog({ siteDirectory, uid: null }, 'x')).rejects.toThrow()
  expect(await readFile(outside, 'utf8')).toBe('mine')
  expect(lstatSync(log()).isSymbolicLink()).toBe(true)
})
