import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { flushFileSystem } from './flush-file-system.ts'

/** The kernel's files are on no disk and no tmpfs, and `sync` takes them. */
const NOT_IN_MEMORY = '/proc'
const IN_MEMORY = '/dev/shm'

afterEach(() => vi.unstubAllEnvs())

test.skipIf(!existsSync(NOT_IN_MEMORY))('needs the program sync, and tells when it is missing', async () => {
  expect(await flushFileSystem(NOT_IN_MEMORY)).toBe(true)
  vi.stubEnv('PATH', '/nowhere')
  expect(await flushFileSystem(NOT_IN_MEMORY)).toBe(false)
})

test.skipIf(!existsSync(IN_MEMORY))('starts no program for files in memory', async () => {
  const folder = await mkdtemp(join(IN_MEMORY, 'stead-flush-'))
  try {
    vi.stubEnv('PATH', '/nowhere')
    expect(await flushFileSystem(folder)).toBe(true)
    expect(await flushFileSystem(join(folder, 'missing'))).toBe(false)
  } finally {
    await rm(folder, { recursive: true })
  }
})
