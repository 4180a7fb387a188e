import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { killGroup, startGroup } from '../../platform/processes/process-group.ts'
import { type Abilities, planTool } from '../php/wasm/containment.ts'
import type { ChildOrder } from './child/orders.ts'
import { type ChildProgram, childProgram } from './child-program.ts'

const KEPT_ERROR_BYTES = 4096
/** A child that neither reads nor writes for this long is ended. */
const SILENCE_MS = 600_000
/**
 * Runs first. It disables core dumps, which would contain a site's data, and makes the child the first to be killed
 * when the machine is short of memory. It also limits the processor time: a child that writes a byte now and then would
 * run forever, and delay the backups of all sites. The soft limit is lower, so that the exit status shows the reason.
 */
const BOUNDED =
  '{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null; ulimit -c 0; ulimit -S -t "$0" && ulimit -H -t "$(($0 + 5))" && exec "$@"'
/** SIGXCPU, as the signal or as bubblewrap reports it. */
const OUT_OF_TIME: readonly string[] = ['SIGXCPU', `exit ${128 + constants.signals.SIGXCPU}`]

/** Found once, because it stays the same as long as the process lives. */
let program: Promise<ChildProgram> | undefined

/**
 * A child that works on a site's database in a separate folder. Whatever the bytes in it do to the child, it can reach
 * nothing else.
 */
export interface ContainedChild {
  readonly input: Writable
  readonly output: Readable
  /** Resolves when it has ended successfully. @throws ChildFailed */
  readonly ended: Promise<void>
  /** Notes that it has read or written something. */
  alive(): void
  kill(): void
}

/** A child failed. The site's data can influence the reason. */
export class ChildFailed extends Error {
  override readonly name = 'ChildFailed'
  /** SQLite's extended code, or the system's. */
  readonly errcode: number | undefined
  readonly code: string | undefined

  constructor(message: string, { errcode, code }: { errcode?: number; code?: string } = {}) {
    super(message)
    this.errcode = errcode
    this.code = code
  }
}

/** The order to a child, without the fields that depend on its containment. */
type Asked = ChildOrder extends infer One ? (One extends ChildOrder ? Omit<One, 'folder' | 'uid'> : never) : never

/** @param mostCpuSeconds the processor time after which it is ended */
export async function startContained(
  abilities: Abilities,
  { folder, uid }: { readonly folder: string; readonly uid: number | null },
  asked: Asked,
  mostCpuSeconds: number,
): Promise<ContainedChild> {
  program ??= childProgram()
  const { folder: programs, script } = await program.catch((error) => {
    program = undefined
    throw error
  })
  const launch = await planTool(abilities, { programs, script, folder, uid })
  const order = JSON.stringify({ ...asked, folder: launch.folder, uid: launch.uid })
  const bounded = ['sh', '-c', BOUNDED, String(Math.ceil(mostCpuSeconds)), launch.command, ...launch.args, order]
  const child = startGroup('nice', ['-n', '10', ...bounded])
  const { stdin: input, stdout: output, stderr: errors } = child
  input.on('error', () => {}) // it has ended, and its exit status has the reason
  let said = ''
  errors.on('data', (text: Buffer) => {
    said = (said + text.toString()).slice(0, KEPT_ERROR_BYTES)
  })
  const kill = () => killGroup(child)
  const silence = setTimeout(kill, SILENCE_MS).unref()
  const ended = endOf(child, () => said).finally(() => clearTimeout(silence))
  ended.catch(() => {})
  return { input, output, ended, alive: () => void silence.refresh(), kill }
}

function endOf(child: ChildProcess, said: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new ChildFailed(error.message)))
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(failureOf(said(), signal ?? `exit ${code}`))
    })
  })
}

function failureOf(said: string, how: string): ChildFailed {
  if (OUT_OF_TIME.includes(how)) return new ChildFailed('it takes more processor time than it may')
  try {
    const { message, errcode, code } = JSON.parse(said.split('\n')[0] as string) as {
      message: string
      errcode?: number
      code?: string
    }
    return new ChildFailed(String(message), { errcode: Number(errcode) || undefined, code: code && String(code) })
  } catch {
    return new ChildFailed(`the process ended (${how}) ${said.trim()}`.trim())
  }
}
