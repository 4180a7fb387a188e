import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWpCli, PHAR, WpCliMissing } from './wp-cli.ts'

const phar = '<?php echo 1;'
const log = { info() {}, warn() {} }
let dataDir: string
let server: Server
let source: string
let answers: Record<string, string>
let asked: string[]

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'stead-wp-cli-'))
  asked = []
  answers = { '/wp-cli.phar': phar, '/wp-cli.phar.sha512': `${createHash('sha512').update(phar).digest('hex')}\n` }
  server = createServer((request, response) => {
    asked.push(request.url as string)
    const body = answers[request.url as string]
    response.writeHead(body === undefined ? 404 : 200).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wp-cli.phar`
})
afterEach(async () => {
  server.close()
  await rm(dataDir, { recursive: true, force: true })
})
const made = (file?: string) => createWpCli({ dataDir, file, source, allowPrivate: false, log })

test('downloads it once, checks it, and stores it where the users of sites can read it', async () => {
  const wpCli = made()
  const [folder, same] = await Promise.all([wpCli.folder(), wpCli.folder()])
  expect(same).toBe(folder)
  expect(await made().folder()).toBe(folder)
  expect(asked).toEqual(['/wp-cli.phar.sha512', '/wp-cli.phar'])
  expect(await readFile(join(folder, PHAR), 'utf8')).toBe(phar)
  const modes = await Promise.all([folder, join(folder, PHAR)].map(async (path) => (await stat(path)).mode & 0o777))
  expect(modes).toEqual([0o755, 0o644])
})

test.each([
  ['another checksum', () => (answers['/wp-cli.phar'] = `${phar} `), 'does not have the checksum'],
  ['no checksum', () => delete answers['/wp-cli.phar.sha512'], 'could not be fetched'],
  ['nonsense for a checksum', () => (answers['/wp-cli.phar.sha512'] = '<html>'), 'is not SHA-512'],
  ['no phar', () => delete answers['/wp-cli.phar'], 'could not be fetched'],
])('%s: says what to do, stores nothing, and retries on the next use', async (_what, breakIt, text) => {
  const good = { ...answers }
  breakIt()
  const refused = made().folder()
  await expect(refused).rejects.toThrow(WpCliMissing)
  await expect(refused).rejects.toThrow(text)
  await expect(refused).rejects.toThrow('set STEAD_WP_CLI')
  expect(await readdir(join(dataDir, 'wp-cli'))).toEqual([])
  answers = good
  await made().folder()
})

test('copies the operator’s file, again when it changes, and reports when it is missing', async () => {
  const file = join(dataDir, 'own.phar')
  await expect(made(file).folder()).rejects.toThrow('STEAD_WP_CLI')
  await writeFile(file, 'one')
  expect(await readFile(join(await made(file).folder(), PHAR), 'utf8')).toBe('one')
  await writeFile(file, 'another')
  expect(await readFile(join(await made(file).folder(), PHAR), 'utf8')).toBe('another')
  expect(asked).toEqual([])
})
