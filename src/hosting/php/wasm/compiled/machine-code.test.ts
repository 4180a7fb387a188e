import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  fetchPage,
  giveToSite,
  type TestDirectory,
  testDirectory,
  testRequest,
  usualRuntime,
} from '../../../../../test/support/site-directory.ts'
import type { PhpRuntime } from '../../runtime.ts'
import { createWasmRuntime } from '../start.ts'

let core: string
let folder: string
let directory: TestDirectory
let script: string
/** The code that a busy process stored. */
let kept: Buffer

const createRuntime = (optimize = true): Promise<PhpRuntime> =>
  createWasmRuntime({ ...usualRuntime(), optimize, codeFolder: folder })
const file = async () => join(folder, (await readdir(folder))[0] as string)

beforeAll(async () => {
  core = await mkdtemp(join(tmpdir(), 'stead-code-core-'))
  for (const name of ['wp-admin', 'wp-includes', 'wp-content']) await mkdir(join(core, name))
  folder = await mkdtemp(join(tmpdir(), 'stead-code-'))
  directory = await testDirectory(core)
  script = await directory.script('sum.php', 'for ($sum = 0, $n = 0; $n < 3000000; $n++) $sum += $n % 7; echo $sum;')
  await giveToSite(directory.siteDirectory)
})
afterAll(async () => {
  await directory.remove()
  for (const path of [core, folder]) await rm(path, { recursive: true })
})

/** @returns whether a new process used the stored code; checks that it works either way */
async function isTaken(runtime: PhpRuntime): Promise<boolean> {
  const process = await runtime.start(directory)
  try {
    const { text } = await fetchPage(process, testRequest('/', script))
    expect(text).toBe('8999994')
    return process.hasMachineCode === true
  } finally {
    await process.stop(0)
  }
}

test('reuses the machine code of one process in those that start later, even after a restart', async () => {
  const runtime = await createRuntime()
  expect(runtime.machineCode?.isMissing('8.3')).toBe(true)
  const process = await runtime.start(directory)
  await fetchPage(process, testRequest('/', script))
  expect(process.hasMachineCode).toBe(false)
  await runtime.machineCode?.keep('8.3', (await process.machineCode?.()) as Buffer)
  await process.stop(0)
  expect(await isTaken(runtime)).toBe(true)
  expect(runtime.machineCode?.isMissing('8.2')).toBe(true)
  await runtime.close()

  kept = await readFile(await file())
  const next = await createRuntime()
  expect(next.machineCode?.isMissing('8.3')).toBe(false)
  expect(await isTaken(next)).toBe(true)
  await next.close()
})

test('ignores code of another Node version, and stores none if nothing is compiled twice', async () => {
  await writeFile(join(folder, '8.3-of-another'), kept)
  const none = await createRuntime(false)
  expect(none.machineCode).toBeUndefined()
  expect(await isTaken(none)).toBe(false)
  await none.close()
  const runtime = await createRuntime()
  expect(await readdir(folder)).toHaveLength(1)
  await runtime.close()
})

test.each([
  ['is damaged', (code: Buffer) => code.fill(code.at(-1) === 0 ? 1 : 0, code.length - 1)],
  ['was made of another PHP', (code: Buffer) => code.fill(code[0] === 0 ? 1 : 0, 0, 1)],
  ['is empty', (code: Buffer) => code.subarray(0, 0)],
])('starts PHP without code that %s, and wants it generated again', async (_, change) => {
  await writeFile(await file(), change(Buffer.from(kept)))
  const runtime = await createRuntime()
  expect(await isTaken(runtime)).toBe(false)
  expect(runtime.machineCode?.isMissing('8.3')).toBe(true)
  await runtime.machineCode?.keep('8.3', kept)
  expect(await isTaken(runtime)).toBe(true)
  await runtime.close()
})

test('starts again without code that crashes a process, and no longer offers that code', async () => {
  const deadly = Buffer.from(kept)
  // V8's own header is kept, and the amount of code becomes impossible.
  deadly.fill(0xff, 8 + 32, 8 + 128)
  deadly.writeUInt32BE(crc32(deadly.subarray(8)), 4)
  await writeFile(await file(), deadly)
  const runtime = await createRuntime()
  expect(await isTaken(runtime)).toBe(false)
  expect(runtime.machineCode?.isMissing('8.3')).toBe(true)
  expect(await readdir(folder)).toEqual([])
  await runtime.close()
})

test('lowers the priority of PHP only while other work needs it', async () => {
  let isLowPriority = false
  const runtime = await createWasmRuntime({
    ...usualRuntime(),
    priority: 7,
    isLowPriority: () => isLowPriority,
    optimize: false,
  })
  const nice = async () => {
    const process = await runtime.start(directory)
    const priority = getPriority(process.pid)
    await process.stop(0)
    return priority - getPriority()
  }
  expect(await nice()).toBe(0)
  isLowPriority = true
  expect(await nice()).toBe(7)
  await runtime.close()
})
