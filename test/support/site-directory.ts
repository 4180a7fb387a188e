import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hostBudgets } from '../../src/budgets.ts'
import { readConfig } from '../../src/config.ts'
import { defaultFpmLimits } from '../../src/hosting/php/native/fpm-settings.ts'
import { createNativeRuntime } from '../../src/hosting/php/native/start.ts'
import type { PhpProcess, PhpRequest, PhpRuntime, PhpSite, PhpVersion } from '../../src/hosting/php/runtime.ts'
import { defaultEgressLimits } from '../../src/hosting/php/wasm/network/egress.ts'
import { createWasmRuntime, type WasmRuntimeOptions } from '../../src/hosting/php/wasm/start.ts'
import { wpConfig } from '../../src/hosting/php/wp-config.ts'
import { giveTo, layOutDirectory } from '../../src/hosting/site-files/platform/lay-out-directory.ts'
import { HeldAnswers } from '../../src/hosting/web-server/held-answers.ts'
import { openBudgets } from '../../src/platform/budgets/budget.ts'

/** A uid without a user, if the tests run as root. */
export const testUid = process.getuid?.() === 0 ? 200_123 : null

export const testAddress = 'my.localhost:8081'

/** Gives a folder and its content to the site's user, if it has one. */
export const giveToSite = async (path: string): Promise<void> => {
  if (testUid !== null) await giveTo(testUid, path)
}

export interface TestDirectory extends PhpSite {
  /** Writes a PHP file into the web root. @returns its path as PHP sees it */
  script(name: string, code: string): Promise<string>
  remove(): Promise<void>
}

/**
 * Creates a site directory without WordPress below a temporary folder, which only its owner may enter unless `isOpen`.
 */
export async function testDirectory(
  corePath: string,
  { phpVersion = '8.3' as PhpVersion, uid = testUid, isOpen = false } = {},
): Promise<TestDirectory> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-home-'))
  if (isOpen) await chmod(folder, 0o711)
  const siteDirectory = join(folder, 'h1')
  const config = wpConfig({ environmentType: 'production' }, randomBytes)
  await layOutDirectory(siteDirectory, { corePath, wpConfig: config })
  if (uid !== null) await giveTo(uid, siteDirectory)
  return {
    siteDirectory,
    corePath,
    phpVersion,
    uid,
    address: testAddress,
    async script(name, code) {
      await writeFile(join(siteDirectory, 'web', name), `<?php ${code}`)
      return `/wordpress/${name}`
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A host's default budgets. */
export const testBudgets = () => openBudgets(hostBudgets(readConfig({})))

/** What a web server needs for slow visitors, and for the first ones: it holds nothing yet. */
export function testHeld(folder: string, budgets = testBudgets()) {
  const { answerMemory: memory, answerDisk: disk } = budgets
  const answers = new HeldAnswers({ memory, disk, folder, log: { warn() {} } })
  return { answers, firstPages: { take: async () => undefined } }
}

/** The bodies of a pool. */
export const testBodies = (mostBytes = 128 << 20, folder = tmpdir(), budgets = testBudgets()) => {
  return { mostBytes, folder, budgets }
}

/** The runtime that tests use by default. */
export const usualRuntime = () => {
  const egress = { ...defaultEgressLimits, allows: () => false }
  const bounds = { priority: 0, memoryLimitMb: 256, uploadMaxMb: 128, egress, budgets: testBudgets() }
  return { ...bounds, sandbox: 'auto' } as const
}

export function testRuntime({
  runtime = 'wasm',
  atOnce = defaultFpmLimits.atOnce,
  ...options
}: Partial<WasmRuntimeOptions> & { runtime?: 'wasm' | 'native'; atOnce?: number } = {}): Promise<PhpRuntime> {
  const usual = usualRuntime()
  if (runtime === 'native') return createNativeRuntime({ ...usual, ...options, fpm: { ...defaultFpmLimits, atOnce } })
  return createWasmRuntime({ ...usual, optimize: false, ...options })
}

/** A plain GET request. Tests override what they need. */
export function testRequest(
  path: string,
  script = '/wordpress/index.php',
  change: Partial<PhpRequest> = {},
): PhpRequest {
  return {
    method: 'GET',
    path,
    script,
    headers: ['Host', testAddress],
    body: null,
    bodyBytes: 0,
    remoteAddress: '192.0.2.1',
    https: false,
    host: testAddress,
    ...change,
  }
}

/** Runs a request to its end. @returns the whole page */
export async function fetchPage(process: PhpProcess, request: PhpRequest) {
  const response = await process.request(request)
  let text = ''
  for await (const chunk of response.body) text += chunk
  await response.finished
  return { status: response.status, headers: response.headers, text }
}

export const install = (process: PhpProcess) =>
  process.runTask('install', {
    title: 'A test site',
    user: 'admin',
    password: 'correct horse battery',
    email: 'owner@example.com',
    url: `http://${testAddress}`,
  })
