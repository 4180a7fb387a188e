import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { pathBelowRoot } from './client-paths.ts'
import { Guessers } from './guessers.ts'
import { readPublicKey } from './public-key.ts'
import { WriteRoom } from './write-room.ts'

describe('guessers', () => {
  test('get growing delays, are banned, and are allowed again', () => {
    let now = 0
    const guessers = new Guessers(() => now)
    const delays = Array.from({ length: 20 }, () => guessers.failed('192.0.2.1').delayMs)
    expect(delays.slice(0, 8)).toEqual([0, 0, 500, 1000, 2000, 4000, 8000, 8000])
    expect([guessers.isBanned('192.0.2.1'), guessers.isBanned('192.0.2.2')]).toEqual([true, false])
    guessers.succeeded('192.0.2.1')
    expect(guessers.isBanned('192.0.2.1')).toBe(true)
    now += 900_000
    expect(guessers.isBanned('192.0.2.1')).toBe(false)
    expect(guessers.failed('192.0.2.1')).toEqual({ delayMs: 0, isBanned: false })
  })

  test('count by /64 with IPv6', () => {
    const guessers = new Guessers()
    for (let times = 0; times < 20; times++) guessers.failed(`2001:db8::${times}`)
    expect([guessers.isBanned('2001:db8::ffff'), guessers.isBanned('2001:db8:0:1::1')]).toEqual([true, false])
  })
})

test.each([
  ['.', ''],
  ['/../../etc/passwd', 'etc/passwd'],
  ['/wp-content//./a/../b/', 'wp-content/b'],
])('%s is %s below the web root', (path, place) => expect(pathBelowRoot(path)).toBe(place))

test.each(['a\0b', 'a\ufffd', 'x'.repeat(256), 'd/'.repeat(201)])('rejects the path %j', (path) =>
  expect(() => pathBelowRoot(path)).toThrow(),
)

test('tells a client that a name is not UTF-8', () => {
  // Invalid UTF-8 arrives as U+FFFD.
  const name = Buffer.from([0x66, 0xff]).toString()
  expect(() => pathBelowRoot(`/wp-content/${name}`)).toThrow('The name is not valid UTF-8')
})

describe('public keys', () => {
  const made = (type: string, bits: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'stead-key-'))
    execFileSync('ssh-keygen', ['-q', '-t', type, '-b', bits, '-N', '', '-C', 'me@laptop', '-f', join(folder, 'key')])
    const print = execFileSync('ssh-keygen', ['-lf', join(folder, 'key.pub')], { encoding: 'utf8' })
    const line = readFileSync(join(folder, 'key.pub'), 'utf8')
    const secret = readFileSync(join(folder, 'key'), 'utf8')
    rmSync(folder, { recursive: true })
    return { line, secret, fingerprint: print.split(' ')[1] }
  }

  test.each([
    ['ed25519', '256'],
    ['rsa', '2048'],
    ['ecdsa', '256'],
    ['ecdsa', '521'],
  ])('accepts %s with %s bits', async (type, bits) => {
    const { line, fingerprint } = made(type, bits)
    expect(await readPublicKey(line)).toMatchObject({ fingerprint, name: 'me@laptop' })
  })

  test('rejects weak, truncated, private, and unsupported keys with the reason', async () => {
    const { line, secret } = made('ed25519', '256')
    await expect(readPublicKey(made('rsa', '1024').line)).rejects.toThrow('has 1024')
    await expect(readPublicKey(secret)).rejects.toThrow('not the private one')
    await expect(readPublicKey(line.replace(/(\S+ \S{40})\S*/, '$1'))).rejects.toThrow('whole key')
    await expect(readPublicKey(line.replace('ssh-ed25519', 'ssh-dss'))).rejects.toThrow('must be one of')
    await expect(readPublicKey(line.replace('ssh-ed25519', 'ssh-rsa'))).rejects.toThrow('whole key')
    await expect(readPublicKey(`command="sh" ${line}`)).rejects.toThrow('must be')
    await expect(readPublicKey(`${line}\n${line}`)).rejects.toThrow('one line')
  })
})

describe('write room', () => {
  afterEach(() => void vi.useRealTimers())
  const room = (quota: { bytes: number; files: number }, usage: { bytes: number; files: number }) =>
    new WriteRoom({ siteDirectory: tmpdir(), keepFreeBytes: 0, quota: async () => quota, measure: async () => usage })

  test('ends at the site’s limits in bytes and files, across concurrent writers', async () => {
    const bytes = room({ bytes: 100_000, files: 100 }, { bytes: 50_000, files: 1 })
    const taken = await Promise.allSettled(Array.from({ length: 10 }, () => bytes.take(10_000)))
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    const files = room({ bytes: 1e9, files: 3 }, { bytes: 0, files: 1 })
    await files.take(0, 1)
    await files.take(0, 1)
    await expect(files.take(0, 1)).rejects.toThrow('files and folders')
  })

  test('returns after a deletion: a full site is measured again, but not at each attempt', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    let measured = 0
    const usage = { bytes: 100_000, files: 1 }
    const full = new WriteRoom({
      ...{ siteDirectory: tmpdir(), keepFreeBytes: 0, quota: async () => ({ bytes: 100_000, files: 100 }) },
      measure: async () => ({ ...usage, bytes: measured++ === 0 ? usage.bytes : 0 }),
    })
    await expect(full.take(1)).rejects.toThrow('of disk space')
    vi.advanceTimersByTime(1999)
    await expect(full.take(1)).rejects.toThrow('of disk space')
    expect(measured).toBe(1)
    vi.advanceTimersByTime(1)
    await full.take(1)
    expect(measured).toBe(2)
  })

  test('keeps space on the disk free for more important things', async () => {
    const options = { siteDirectory: tmpdir(), quota: async () => undefined }
    await expect(new WriteRoom({ ...options, keepFreeBytes: 2 ** 60 }).take(1)).rejects.toThrow(
      'disk of the host is full',
    )
  })
})
