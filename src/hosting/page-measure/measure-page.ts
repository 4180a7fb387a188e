import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { comeAfterVisitors } from '../../platform/come-after-visitors.ts'
import { bubblewrap } from '../../platform/processes/bubblewrap.ts'
import { limitTime } from '../php/time-limit.ts'
import { pathOnly } from '../php/wasm/containment.ts'
import { processorMsOf, residentBytesOf } from '../php/wasm/process-tree.ts'
import { type JailPlan, jailArguments } from './jail-arguments.ts'
import { createSocks, type Reach } from './socks.ts'

/** The memory limit of a page and its browser. Beyond it they are ended. */
const MOST_BYTES = 1536 << 20
const LOOK_MS = 500
/** Time without a processor does not count. */
const MOST_MS = 150_000
/** The most processor time, which bounds a page that keeps all processors busy. */
const MOST_PROCESSOR_MS = 150_000
/** The most that is kept of the result. */
const RESULT_BYTES = 2 << 20
/** The most that is kept of the runner's error message. */
const COMPLAINT_BYTES = 2000

/** The page could not be measured. The message may be shown to users. */
export class MeasureFailed extends Error {
  override readonly name = 'MeasureFailed'
}

/** Nothing can be measured on this machine. The message includes the remedy. */
export class MeasureImpossible extends Error {
  override readonly name = 'MeasureImpossible'
}

/** A visit by a browser. */
export interface BrowserVisit {
  /** The owner of the page, whose log and statistics leave the visit out. */
  readonly siteId: number
  readonly signal: AbortSignal
}

export interface PageToMeasure extends BrowserVisit {
  readonly url: string
  readonly device: 'desktop' | 'mobile'
  readonly audits: readonly string[]
}

/** The options of a visit. */
export interface BrowserVisitOptions extends Omit<BrowserVisit, 'siteId'>, Pick<JailPlan, 'chromium' | 'pictures'> {
  readonly reach: Reach
  /** What the runner reads from its standard input. */
  readonly input?: string
  /** For tests. */
  readonly mostBytes?: number
  readonly mostMs?: number
  readonly mostProcessorMs?: number
}

export type MeasureOptions = BrowserVisitOptions & Omit<PageToMeasure, 'siteId'>

/**
 * Opens a page in a separate jail, and measures it with Lighthouse.
 * @returns the runner's result, which is untrusted: a hostile page may have taken the runner over
 * @throws MeasureFailed
 */
export const measurePage = ({ url, device, audits, ...options }: MeasureOptions): Promise<unknown> =>
  runInJail(options, [`--url=${url}`, `--device=${device}`, `--audits=${audits.join()}`])

/**
 * Runs a task of the runner in a separate jail.
 * @returns the runner's result, which is untrusted: a hostile page may have taken the runner over
 * @throws MeasureFailed
 */
export async function runInJail(options: BrowserVisitOptions, task: readonly string[]): Promise<unknown> {
  const { reach, signal } = options
  const egressSocket = await mkdtemp(join(tmpdir(), 'stead-way-out-'))
  const socks = createSocks(reach)
  const open = new Set<{ destroy(): void }>()
  socks.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  try {
    await chmod(egressSocket, 0o711)
    await new Promise<void>((ready, reject) => socks.once('error', reject).listen(join(egressSocket, 'socket'), ready))
    await chmod(join(egressSocket, 'socket'), 0o666)
    signal.throwIfAborted()
    const text = await run(
      jailArguments({ ...options, task, egressSocket, modules: modulesFolder() }, process.getuid?.() === 0),
      options,
    )
    return JSON.parse(text)
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof SyntaxError ? new MeasureFailed('The browser returned no readable result') : error
  } finally {
    socks.close()
    for (const each of open) each.destroy()
    await rm(egressSocket, { recursive: true, force: true })
  }
}

/** The folder of the packages that only browsers need (`browser/package.json`). */
const browserFolder = fileURLToPath(new URL('../../../browser', import.meta.url))

/** The command that installs what {@link findModules} looks for. */
export const installModules = `node ${join(browserFolder, 'install.js')}`

/** Returns the folder that contains Lighthouse, or undefined if it is not installed. */
export function findModules(): string | undefined {
  const folder = join(browserFolder, 'node_modules')
  return existsSync(join(folder, 'lighthouse/package.json')) ? folder : undefined
}

function modulesFolder(): string {
  const found = findModules()
  if (found === undefined) throw new MeasureFailed('Lighthouse is not installed')
  return found
}

async function run(jail: readonly string[], options: BrowserVisitOptions): Promise<string> {
  const { signal, mostBytes = MOST_BYTES, mostMs = MOST_MS, mostProcessorMs = MOST_PROCESSOR_MS } = options
  const { command, args } = bubblewrap(jail)
  const child = spawn(command, args, {
    env: pathOnly(),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  if (child.pid !== undefined) comeAfterVisitors(child.pid)
  // A runner that ends early does not read it.
  child.stdin.on('error', () => {}).end(options.input)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const pieces: Buffer[] = []
  let [bytes, complaint, why] = [0, '', '']
  const end = (reason: string) => {
    why ||= reason
    // The first process of the jail dies with this one, and takes all others with it.
    child.kill('SIGKILL')
  }
  const onAbort = () => end('It was interrupted')
  signal.addEventListener('abort', onAbort)
  const { pid = 0 } = child
  const onOver = () => end(`Measuring the page took longer than ${Math.round(mostMs / 1000)} seconds`)
  const lift = limitTime({ ms: mostMs, pid, what: 'The page was not measured', onOver })
  const watch = setInterval(async () => {
    if (((await residentBytesOf(pid)) ?? 0) > mostBytes)
      end(`The page uses more than ${mostBytes >> 20} MB of memory in a browser`)
    if (processorMsOf(pid) > mostProcessorMs)
      end(`The page uses more than ${Math.round(mostProcessorMs / 1000)} seconds of processor time in a browser`)
  }, LOOK_MS)
  child.stdout.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > RESULT_BYTES) end('The result is too large')
    else pieces.push(piece)
  })
  child.stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString()).slice(0, COMPLAINT_BYTES)
  })
  child.on('error', (error) => reject(new MeasureFailed(`bubblewrap: ${error.message}`)))
  child.on('close', (code) => {
    if (why) reject(new MeasureFailed(why))
    else if (code === 0) resolve(Buffer.concat(pieces).toString())
    else
      reject(new MeasureFailed(`The page could not be measured: ${complaint.trim().split('\n')[0] || `code ${code}`}`))
  })
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    lift()
    clearInterval(watch)
  })
}
