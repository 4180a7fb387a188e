import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { type Abilities, pathOnly, planTool } from '../php/wasm/containment.ts'
import type { ChildOrder } from './child/orders.ts'
import { type ChildProgram, childProgram } from './child-program.ts'

const KEPT_ERROR_BYTES = 4096
/** A child that neither takes nor gives anything for as long is ended. */
const SILENCE_MS = 600_000
/**
 * Before all: no core of a site's bytes is left, the child is the first to go when the machine is short of memory, and its processor time is bounded:
 * a child that gives a byte now and then would go on for ever, and hold up the backups of all sites. The soft limit, so that its end tells why.
 */
const BOUNDED =
  '{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null; ulimit -c 0; ulimit -S -t "$0" && ulimit -H -t "$(($0 + 5))" && exec "$@"'
/** SIGXCPU, as the signal or as bubblewrap's word for it. */
const OUT_OF_TIME: readonly string[] = ['SIGXCPU', `exit ${128 + constants.signals.SIGXCPU}`]

/** The same for as long as the process lives: it is looked for once. */
let program: Promise<ChildProgram> | undefined

/** A child that works on a site's database, in a folder that is its own: whatever the bytes in it do to it, it has nothing else. */
export interface ContainedChild {
  readonly input: Writable
  readonly output: Readable
  /** Resolves when it has ended well. @throws ChildFailed */
  readonly ended: Promise<void>
  /** It has taken or given something. */
  alive(): void
  kill(): void
}

/** A child did not do what it was to do. It is the site's bytes' word why. */
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

/** What a child is told, but for what depends on how it is contained. */
type Asked = ChildOrder extends infer One ? (One extends ChildOrder ? Omit<One, 'folder' | 'uid'> : never) : never

/** @param mostCpuSeconds after which it is ended */
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
  const child = spawn('nice', ['-n', '10', ...bounded], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: pathOnly(),
    cwd: '/',
    // Ctrl-C goes to the whole group of the terminal
    detached: true,
  })
  const [input, output, errors] = child.stdio as unknown as [Writable, Readable, Readable]
  input.on('error', () => {}) // it has ended; its end says why
  let said = ''
  errors.on('data', (text: Buffer) => {
    said = (said + text.toString()).slice(0, KEPT_ERROR_BYTES)
  })
  // a sandbox is several processes: what is left of one that was killed while it began would wait for ever, with the output open
  const kill = () => killGroup(child.pid)
  child.once('exit', kill)
  const silence = setTimeout(kill, SILENCE_MS).unref()
  const ended = endOf(child, () => said).finally(() => clearTimeout(silence))
  ended.catch(() => {})
  return { input, output, ended, alive: () => void silence.refresh(), kill }
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // none of it is left
  }
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
