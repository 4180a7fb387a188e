import { existsSync } from 'node:fs'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { createResolver } from '../../../platform/fetch/resolver.ts'
import type { DiskWatch } from '../../site-files/disk-watch.ts'
import type { HairpinRoute } from '../hairpin-route.ts'
import {
  type Containment,
  PhpCrashed,
  type PhpProcess,
  type PhpRuntime,
  type PhpSite,
  type PhpStart,
} from '../runtime.ts'
import { compiledAt, compiling } from './compiled/compiled.ts'
import { openMachineCode } from './compiled/machine-code.ts'
import { containmentOf, findAbilities, planLaunch, v8Flags } from './containment.ts'
import { commandIni, compiledIni, mostPhpBytes, type PhpLimits, phpIni } from './ini.ts'
import { createNames } from './names.ts'
import type { EgressPolicy } from './network/egress.ts'
import { machineCertificates } from './network/machine-certificates.ts'
import { WasmProcess } from './process.ts'
import { prepareProgram } from './program.ts'

export interface WasmRuntimeOptions extends PhpLimits {
  readonly sandbox: 'auto' | 'bubblewrap' | 'none'
  /** PHP files by name that are put beside Stead's own. */
  readonly morePhp?: Readonly<Record<string, Buffer>>
  /** What sites may reach. */
  readonly egress: EgressPolicy
  /** Default: sites of this Stead are reached as all others are. */
  readonly edge?: HairpinRoute
  readonly budgets: RuntimeBudgets
  /** Where the children's program is put, which no other host uses; default: a new folder among the system's temporary files. */
  readonly programFolder?: string
  /** The CAs that sites trust, PEM; default: those of this machine. */
  readonly certificates?: string
  /** Keeps sites within their disk quotas; default: they may fill the disk. */
  readonly disk?: Pick<DiskWatch, 'beforeStart' | 'follow'>
  /**
   * How much PHP gives way to what serves everybody, as nice(1): pages from the cache and the API would wait for sites that start and
   * work. Sites are equal among themselves.
   */
  readonly priority: number
  /** Whether there is anybody to give way to. Default: always. */
  readonly isLowPriority?: () => boolean
  /**
   * Whether V8 compiles what runs often once more, and better. It costs each process seconds of processor time at its first pages, and
   * memory (docs/design/php.md). Default true.
   */
  readonly optimize?: boolean
  /** A process that is not ready after this is ended. */
  readonly startTimeoutMs?: number
  /** Folder with what was compiled ahead of a core's scripts, where there is one; default: every process compiles them anew. */
  readonly compiledOf?: (corePath: string) => string
  /** Where it is kept what V8 makes of PHP, for processes to come; default: each makes it anew. With `optimize` only. */
  readonly codeFolder?: string
  /** Entries of php.ini and flags of V8 in place of the usual ones: for measurements. */
  readonly ini?: Readonly<Record<string, string>>
  readonly v8Flags?: readonly string[]
}

export interface RuntimeBudgets {
  /** Bytes of tasks' results. */
  readonly taskResults: Budget
  /** Connections of sites to the outside. */
  readonly outgoing: Budget
  /** Names that sites have looked up. */
  readonly lookups: Budget
}

/** A site's process after its front page and wp-admin. */
const USUAL_BYTES = 300 << 20

/**
 * The runtime on PHP compiled to WebAssembly: one child process a site.
 * @throws when `sandbox` insists on a bubblewrap that does not work here
 */
export async function createWasmRuntime(options: WasmRuntimeOptions): Promise<PhpRuntime> {
  const abilities = await findAbilities(options.sandbox)
  const program = await prepareProgram(options.certificates ?? machineCertificates(), options.programFolder)
  const more = Object.entries(options.morePhp ?? {}).map(([name, content]) => [name, content.toString('base64')])
  const morePrograms: Record<string, string> = Object.fromEntries(more)
  const notes = new Set<string>()
  const names = createNames({ resolver: createResolver(), lookups: options.budgets.lookups })
  const flags = options.v8Flags ?? v8Flags(options.optimize ?? true)
  const code =
    options.codeFolder !== undefined && options.optimize !== false
      ? await openMachineCode(options.codeFolder, program, flags)
      : undefined
  const processes = new Set<PhpProcess>()
  let closed = false

  const start = async (
    site: PhpSite,
    { lowPriority = false, command, keepsCompiled = false }: PhpStart = {},
  ): Promise<PhpProcess> => {
    if (closed) throw new Error('the PHP runtime is closed')
    const isLowPriority = options.isLowPriority?.() ?? true
    const disk = await options.disk?.beforeStart(site.siteDirectory)
    const ahead = command || keepsCompiled ? undefined : options.compiledOf?.(site.corePath)
    const launch = await planLaunch(abilities, site, program, (note) => notes.add(note), {
      flags,
      isReadOnly: disk?.isReadOnly,
      ...(command && { programs: command.programs }),
      ...(ahead !== undefined && existsSync(ahead) && { compiled: ahead }),
    })
    const compiled = keepsCompiled ? `/private/${compiling}` : launch.mounts.find(({ at }) => at === compiledAt)?.at
    const told = {
      programs: program.phpFiles,
      morePrograms,
      ini: {
        ...phpIni(options),
        ...(site.inSafeMode && { 'stead.safe_mode': '1' }),
        ...(compiled !== undefined && compiledIni(compiled)),
        ...(command && commandIni),
        ...options.ini,
      },
      mostPhpBytes: mostPhpBytes(options),
      calledExports: program.calledExports[site.phpVersion],
      address: site.address,
      disk: disk?.none ?? null,
      command: command ? { environment: command.environment } : null,
    }
    const how = {
      phpVersion: site.phpVersion,
      siteDirectory: site.siteDirectory,
      egress: { policy: options.egress, edge: options.edge, names, connections: options.budgets.outgoing },
      results: options.budgets.taskResults,
      priority: isLowPriority ? options.priority : 0,
      lowPriority: lowPriority && isLowPriority && abilities.root,
      timeoutMs: options.startTimeoutMs ?? 30_000,
    }
    const codeFile = code?.fileFor(site.phpVersion) ?? null
    const started = await WasmProcess.start(launch, { ...told, codeFile }, how).catch(async (error) => {
      if (codeFile === null || !(error instanceof PhpCrashed)) throw error
      const without = await WasmProcess.start(launch, { ...told, codeFile: null }, how)
      // so it was not the site, nor the machine
      await code?.discard(site.phpVersion)
      return without
    })
    if (codeFile !== null && code?.fileFor(site.phpVersion) === codeFile)
      code.seen(site.phpVersion, started.hasMachineCode)
    processes.add(started)
    started.exited.then(() => processes.delete(started))
    if (disk) {
      // it was measured while PHP started
      const room = await disk.measured
      started.setDisk(room)
      // one process of a site directory is followed: what a command writes it counts by itself, and the next look sees it
      if (!command) options.disk?.follow(site.siteDirectory, started, room)
    }
    if (closed) await started.stop(0)
    return started
  }
  return {
    start,
    usualBytes: () => USUAL_BYTES,
    ...(code && { machineCode: code }),
    containment: (): Containment => containmentOf(abilities, [...notes]),
    async close() {
      closed = true
      await Promise.all([...processes].map((each) => each.stop(2000)))
      await program.remove()
    },
  }
}
