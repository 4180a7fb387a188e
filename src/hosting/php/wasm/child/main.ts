/**
 * The program inside the sandbox: one site, one PHP, one job at a time. Descriptor 3 delivers jobs, 4 takes answers
 * (blocking writes), and 5 carries PHP's own outgoing connections. When descriptor 3 ends, the program must stop.
 */
import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  type ChildReady,
  type ChildStart,
  type CommandHead,
  type DiskRoom,
  encodeFrame,
  Frame,
  type PhpMemory,
  type RequestHead,
  type ResponseEnd,
  readFrames,
  type TaskHead,
  type TurnEnd,
} from '../frames.ts'
import { taskAsRequest } from '../task-request.ts'
import { boundMemory } from './bound-memory.ts'
import { type DatabaseTurns, lockByTurns } from './database-turns.ts'
import { type DiskMeter, meterDisk } from './disk-quota.ts'
import { keepNodesFresh } from './fresh-nodes.ts'
import { type CommandLoad, closeBackDoors, loadPhp, type Php, startEngine } from './loader.ts'
import type { CompiledPhp } from './machine-code.ts'
import { mountFolders } from './mounts.ts'
import { type Outgoing, outgoingOver } from './outgoing.ts'
import { outputTo, writeAll } from './php-output.ts'
import { type HeldBody, holdBody, runScript } from './request.ts'
import { prepareCommand, runCommand } from './run-command.ts'

const standardError = 2
const jobs = 3
const answers = 4
const egressSocket = 5
const parentLife = 6

const mostNoteBytes = 1 << 18
/** The host answers messages that begin like this. All others are notes. */
const questionStart = '{"ask":'

interface Site {
  readonly php: Php
  readonly compiled: CompiledPhp
  readonly outgoing: Outgoing
  readonly disk: DiskMeter | undefined
  /** Called before each request. */
  readonly lookAnew: () => void
  address: string
}

/** Starts a thread that notices the parent's death even while PHP blocks the main thread. */
function watchParent(): void {
  const code = `require('node:fs').readSync(${parentLife}, Buffer.alloc(1)); process.kill(process.pid, 'SIGKILL')`
  new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 } }).unref()
}

function takeOnUser(uid: number | null): void {
  if (uid === null) return
  process.setgroups?.([])
  process.setgid?.(uid)
  process.setuid?.(uid)
}

async function start(told: ChildStart): Promise<Site> {
  if (told.watchParent) watchParent()
  const outgoing = outgoingOver(() => new Socket({ fd: egressSocket }))
  closeBackDoors()
  boundMemory(told.mostPhpBytes, (bytes) => writeAll(answers, encodeFrame(Frame.memory, { bytes } satisfies PhpMemory)))
  // Read before the user changes, because the site's user need not be able to read the program.
  const codeFile = told.codeFile === null ? undefined : join(import.meta.dirname, '..', told.codeFile)
  const { php, compiled } = await loadPhp(told.phpModule, outgoing, {
    command: commandLoad(told),
    codeFile,
    calledExports: told.calledExports,
  })
  takeOnUser(told.uid)
  mountFolders(php.FS, told.mounts)
  const lookAnew = keepNodesFresh(php.FS, told.fixedFolders)
  onTurn = lookAnew
  const disk = told.disk ? meterDisk(php.FS, told.mounts[0]?.from as string, told.disk) : undefined
  php.FS.mkdirTree('/stead')
  for (const [name, text] of Object.entries(told.programs)) php.FS.writeFile(`/stead/${name}`, text)
  for (const [name, bytes] of Object.entries(told.morePrograms))
    php.FS.writeFile(`/stead/${name}`, Buffer.from(bytes, 'base64'))
  php.onMessage = async (text) => {
    const said = Buffer.from(text)
    if (said.length > mostNoteBytes) return ''
    const isQuestion = text.startsWith(questionStart)
    writeAll(answers, encodeFrame(isQuestion ? Frame.ask : Frame.note, said))
    if (!isQuestion) return ''
    return new Promise<string>((resolve) => {
      onAnswer = resolve
    })
  }
  if (told.command) prepareCommand(php, told.ini)
  else await startEngine(php, told.ini)
  const ready: ChildReady = {
    phpVersion: told.phpModule,
    residentBytes: process.memoryUsage.rss(),
    hasMachineCode: compiled.isFromCode,
  }
  writeAll(answers, encodeFrame(Frame.start, ready))
  return { php, compiled, outgoing, disk, lookAnew, address: told.address }
}

async function run(site: Site, head: RequestHead, body: HeldBody | null): Promise<void> {
  const output = outputTo(answers)
  site.lookAnew()
  const exitCode = await runScript(site.php, head, body, output)
  const end: ResponseEnd = {
    exitCode,
    residentBytes: process.memoryUsage.rss(),
    worn: site.outgoing.namesUsedUp(),
    diskRefusal: site.disk?.refusal(),
  }
  output.finish(encodeFrame(Frame.end, end))
}

/**
 * Prepares for a command. Between its turns, others may have changed the database and the files, so cached knowledge of
 * them is checked again.
 */
function commandLoad({ command }: ChildStart): CommandLoad | undefined {
  if (!command) return undefined
  const turns: DatabaseTurns = {
    async take() {
      const turn = Promise.withResolvers<void>()
      takeTurn = turn.resolve
      writeAll(answers, encodeFrame(Frame.needTurn, undefined))
      await turn.promise
      onTurn()
    },
    giveBack: (wrote) => writeAll(answers, encodeFrame(Frame.turnEnd, { wrote } satisfies TurnEnd)),
  }
  return { environment: command.environment, bindUserSpace: (parts) => lockByTurns(turns, parts) }
}

async function runOnce(site: Site, command: CommandHead): Promise<void> {
  const exitCode = await runCommand(site.php, command, answers)
  const end: ResponseEnd = {
    exitCode,
    residentBytes: process.memoryUsage.rss(),
    worn: true,
    diskRefusal: site.disk?.refusal(),
  }
  writeAll(answers, encodeFrame(Frame.end, end))
}

function tellCode(site: Site): void {
  const output = outputTo(answers)
  output.body(site.compiled.code())
  const end: ResponseEnd = { exitCode: 0, residentBytes: process.memoryUsage.rss(), worn: true }
  output.finish(encodeFrame(Frame.end, end))
}

async function runTask(site: Site, task: TaskHead): Promise<void> {
  if (task.address !== undefined) site.address = task.address
  const { head, body } = taskAsRequest(task, site.address)
  const held = holdBody(site.php, body.length)
  held.add(body)
  await run(site, head, held)
}

/**
 * Ends the process without process.exit, which would wait for the thread that watches the parent, which waits for the
 * parent.
 */
function end(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Handles a fault of the instance itself: nothing in this process can be trusted any longer. */
function giveUp(error: unknown): void {
  try {
    writeSync(standardError, `${(error as Error)?.stack ?? String(error)}\n`)
  } finally {
    end()
  }
}

let takeTurn: (() => void) | undefined
let onTurn = () => {}
let onAnswer: ((text: string) => void) | undefined
let site: Promise<Site> | undefined
let last: Promise<unknown> = Promise.resolve()
let head: RequestHead | undefined
let body: HeldBody | null = null

async function take(kind: number, payload: Buffer): Promise<void> {
  if (kind === Frame.start) {
    site = start(JSON.parse(payload.toString()) as ChildStart)
    last = site
    await site
    return
  }
  const ready = await site
  if (!ready) throw new Error('no start')
  if (kind === Frame.command) await runOnce(ready, JSON.parse(payload.toString()) as CommandHead)
  else if (kind === Frame.task) await runTask(ready, JSON.parse(payload.toString()) as TaskHead)
  else if (kind === Frame.code) tellCode(ready)
  else if (kind === Frame.room) ready.disk?.set(JSON.parse(payload.toString()) as DiskRoom)
  else if (kind === Frame.request) {
    head = JSON.parse(payload.toString()) as RequestHead
    body = head.bodyBytes > 0 ? holdBody(ready.php, head.bodyBytes) : null
  } else if (kind === Frame.data) body?.add(payload)
  else if (kind === Frame.end && head) {
    const [request, held] = [head, body]
    head = undefined
    body = null
    await run(ready, request, held)
  }
}

const incoming = new Socket({ fd: jobs, readable: true, writable: false })
readFrames(
  incoming,
  (kind, payload) => {
    // Handled out of order, because the job before it waits for it.
    if (kind === Frame.answer) return onAnswer?.(payload.toString())
    if (kind === Frame.turn) return takeTurn?.()
    last = last.then(() => take(kind, payload)).catch(giveUp)
  },
  giveUp,
)
incoming.on('end', () => {
  onAnswer?.('')
  last.then(end)
})
incoming.on('error', end)
// The host decides about these signals (../process.ts).
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('uncaughtException', giveUp)
process.on('unhandledRejection', giveUp)
