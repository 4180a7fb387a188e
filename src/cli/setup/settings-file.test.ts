import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeSettingsText, readSettingsText, writeSettingsFile } from './settings-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-settings-'))
})
afterAll(() => rm(folder, { recursive: true }))

const text = `# Settings of Stead.
OTHER=kept

STEAD_DATA_DIR=/var/lib/stead
# A list:
#STEAD_SMTP_URL=smtp://mail.example.com
# STEAD_SMTP_URL=smtp://other.example.com
#STEAD_API_NAME=panel.example.com

STEAD_MAIL_FROM="Stead <a@b.example>"
`

test('reads values as the command of the package does', () => {
  expect(readSettingsText(text)).toEqual({
    STEAD_DATA_DIR: '/var/lib/stead',
    STEAD_MAIL_FROM: 'Stead <a@b.example>',
  })
  expect(readSettingsText("STEAD_A='x y' \nSTEAD_A=later\n stead_b=1\n")).toEqual({ STEAD_A: 'x y' })
})

test('changes a value in its place, puts a new one below its example, and keeps every other line', () => {
  const changes = { STEAD_DATA_DIR: '/srv/stead', STEAD_SMTP_URL: 'smtp://u:p@m.example', STEAD_NEW: '1' }
  const lines = changeSettingsText(text, changes).split('\n')
  const expected = text.split('\n')
  expected[3] = 'STEAD_DATA_DIR=/srv/stead'
  expected.splice(7, 0, 'STEAD_SMTP_URL=smtp://u:p@m.example')
  expected.splice(expected.length - 1, 0, 'STEAD_NEW=1')
  expect(lines).toEqual(expected)
})

test('changes nothing without changes, and removes a setting with all its lines', () => {
  expect(changeSettingsText(text, {})).toBe(text)
  expect(changeSettingsText('A=1\nSTEAD_X=1\nSTEAD_X=2\n#STEAD_X=3\n', { STEAD_X: undefined })).toBe(
    'A=1\n#STEAD_X=3\n',
  )
  expect(changeSettingsText('STEAD_X=1\nSTEAD_X=2\n', { STEAD_X: '3' })).toBe('STEAD_X=3\n')
  expect(changeSettingsText('', { STEAD_X: '3' })).toBe('STEAD_X=3\n')
})

test.each(['Stead <a@b.example>', 'a\\b', 'say "x"', "it's", '$HOME#1'])(
  'reads %s again as it was written',
  (value) => {
    expect(readSettingsText(changeSettingsText('', { STEAD_X: value }))).toEqual({ STEAD_X: value })
  },
)

test.each(['a\nSTEAD_Y=1', `it's "x"`])('refuses %j, which such a file cannot contain', (value) => {
  expect(() => changeSettingsText('', { STEAD_X: value })).toThrow('STEAD_X contains characters')
})

test('replaces a file with one that only its group may read', async () => {
  const file = join(folder, 'stead.env')
  await writeFile(file, 'old\n')
  await chmod(file, 0o666)
  await writeSettingsFile(file, 'new\n')
  expect(await readFile(file, 'utf8')).toBe('new\n')
  expect((await stat(file)).mode & 0o777).toBe(0o640)
  expect(await readdir(folder)).toEqual(['stead.env'])
  await expect(writeSettingsFile(join(folder, 'none/x'), '')).rejects.toThrow('cannot be written')
})
