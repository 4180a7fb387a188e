import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { comeAfterVisitors } from '../../platform/come-after-visitors.ts'
import { bubblewrap } from '../../platform/processes/bubblewrap.ts'
import { killGroup, startGroup } from '../../platform/processes/process-group.ts'
import { limitTime } from '../php/time-limit.ts'
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
/** The most that is kept of the result of a page. */
const RESULT_BYTES = 6 << 20
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
  /** The limits of one page. Default: those of a report. */
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
  let found: unknown
  await runPartsInJail(options, task, {
    most: 1,
    async take(part) {
      found = part
      return false
    },
  })
  if (found === undefined) throw unreadable()
  return found
}

export const unreadable = (): MeasureFailed => new MeasureFailed('The browser returned no readable result')

/** What is done with the results of several pages. */
export interface JailParts {
  /** How many there are at most. */
  readonly most: number
  /**
   * Gets the result of each page as soon as it is there. It is untrusted. The limits then begin again.
   * @returns whether the jail ends now
   */
  take(part: unknown): Promise<boolean>
}

/**
 * Runs a task of the runner that opens several pages, in one jail.
 * @throws MeasureFailed
 */
export async function runPartsInJail(
  options: BrowserVisitOptions,
  task: readonly string[],
  parts: JailParts,
): Promise<void> {
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
    await run(
      jailArguments({ ...options, task, egressSocket, modules: modulesFolder() }, process.getuid?.() === 0),
      options,
      parts,
    )
  } catch (error) {
    signal.throwIfAborted()
    throw error
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

async function run(jail: readonly string[], options: BrowserVisitOptions, parts: JailParts): Promise<void> {
  const { signal } = options
  const { command, args } = bubblewrap(jail)
  const child = startGroup(command, args)
  if (child.pid !== undefined) comeAfterVisitors(child.pid)
  // A runner that ends early does not read it.
  child.stdin.on('error', () => {}).end(options.input)
  let complaint = ''
  const state: { isEnded: boolean; error?: Error | undefined } = { isEnded: false }
  const end = (error?: Error) => {
    if (!state.isEnded) Object.assign(state, { isEnded: true, error })
    killGroup(child)
  }
  const onAbort = () => end(new MeasureFailed('It was interrupted'))
  signal.addEventListener('abort', onAbort)
  const limits = limitJail(child.pid ?? 0, options, (why) => end(new MeasureFailed(why)))
  child.stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString()).slice(0, COMPLAINT_BYTES)
  })
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(new MeasureFailed(`bubblewrap: ${error.message}`)))
    child.on('close', resolve)
  })
  const take = async (part: unknown) => {
    limits.again()
    // Output of a runner that was ended does not count.
    if (!state.isEnded && (await parts.take(part))) end()
    return state.isEnded
  }
  const reading = readParts(child.stdout, { ...parts, take }).catch(end)
  try {
    const [code] = await Promise.all([closed, reading])
    if (state.error) throw state.error
    if (!state.isEnded && code !== 0)
      throw new MeasureFailed(`The page could not be measured: ${complaint.trim().split('\n')[0] || `code ${code}`}`)
  } finally {
    signal.removeEventListener('abort', onAbort)
    limits.lift()
  }
}

/** Ends a jail that takes too much for a page. */
function limitJail(pid: number, options: BrowserVisitOptions, end: (why: string) => void) {
  const { mostBytes = MOST_BYTES, mostMs = MOST_MS, mostProcessorMs = MOST_PROCESSOR_MS } = options
  const onOver = () => end(`Measuring the page took longer than ${Math.round(mostMs / 1000)} seconds`)
  const limit = () => limitTime({ ms: mostMs, pid, what: 'The page was not measured', onOver })
  let [lift, processorBefore] = [limit(), 0]
  const watch = setInterval(async () => {
    if (((await residentBytesOf(pid)) ?? 0) > mostBytes)
      end(`The page uses more than ${mostBytes >> 20} MB of memory in a browser`)
    if (processorMsOf(pid) - processorBefore > mostProcessorMs)
      end(`The page uses more than ${Math.round(mostProcessorMs / 1000)} seconds of processor time in a browser`)
  }, LOOK_MS)
  return {
    /** The next page begins. */
    again() {
      lift()
      processorBefore = processorMsOf(pid)
      lift = limit()
    },
    lift() {
      lift()
      clearInterval(watch)
    },
  }
}

const NEWLINE = 10

/** Reads one line of JSON for each page. @throws MeasureFailed */
async function readParts(output: AsyncIterable<Buffer>, { most, take }: JailParts): Promise<void> {
  let [pieces, bytes, parts]: [Buffer[], number, number] = [[], 0, 0]
  const add = (piece: Buffer) => {
    bytes += piece.length
    if (bytes > RESULT_BYTES) throw new MeasureFailed('The result is too large')
    pieces.push(piece)
  }
  const complete = async () => {
    const text = Buffer.concat(pieces).toString()
    ;[pieces, bytes] = [[], 0]
    if (++parts > most) throw new MeasureFailed('The result is too large')
    await take(readJson(text))
  }
  for await (const piece of output) {
    let rest = piece
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      add(rest.subarray(0, at))
      await complete()
      rest = rest.subarray(at + 1)
    }
    add(rest)
  }
  if (bytes > 0) await complete()
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable()
  }
}
