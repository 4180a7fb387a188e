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
  /** PHP files by name that are added to Stead's own. */
  readonly morePhp?: Readonly<Record<string, Buffer>>
  /** The rules for what sites may reach. */
  readonly egress: EgressPolicy
  /** Default: sites of this Stead are reached as all others are. */
  readonly edge?: HairpinRoute
  readonly budgets: RuntimeBudgets
  /**
   * The folder for the children's program, which no other host uses. Default: a new folder among the system's temporary
   * files.
   */
  readonly programFolder?: string
  /** The CAs that sites trust, PEM. Default: those of this machine. */
  readonly certificates?: string
  /** Keeps sites within their disk quotas. Default: they may fill the disk. */
  readonly disk?: Pick<DiskWatch, 'beforeStart' | 'follow'>
  /**
   * How far PHP yields to what serves everyone, as nice(1). Otherwise cached pages and the API would wait for sites
   * that start and work. All sites have the same priority.
   */
  readonly priority: number
  /** Returns whether other work needs PHP to yield. Default: always. */
  readonly isLowPriority?: () => boolean
  /**
   * Whether V8 compiles frequently used code once more, and better. It costs each process seconds of processor time at
   * its first pages, and memory (docs/design/php.md). Default true.
   */
  readonly optimize?: boolean
  /** A process that is not ready after this time is ended. */
  readonly startTimeoutMs?: number
  /**
   * Returns the folder with a core's precompiled scripts, if there is one. Default: every process compiles them again.
   */
  readonly compiledOf?: (corePath: string) => string
  /**
   * The folder for the machine code of PHP that later processes use. Default: each process generates it again. Requires
   * `optimize`.
   */
  readonly codeFolder?: string
  /** Entries of php.ini and flags of V8 that replace the usual ones, for measurements. */
  readonly ini?: Readonly<Record<string, string>>
  readonly v8Flags?: readonly string[]
}

export interface RuntimeBudgets {
  /** Bytes of task results. */
  readonly taskResults: Budget
  /** Connections of sites to the outside. */
  readonly outgoing: Budget
  /** Name lookups of sites. */
  readonly lookups: Budget
}

/** The memory of a site's process after its front page and wp-admin. */
const USUAL_BYTES = 300 << 20

/**
 * Creates the runtime on PHP compiled to WebAssembly, with one child process per site.
 * @throws when `sandbox` requires a bubblewrap that does not work here
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
    { lowPriority = false, command, keepsCompiled = false, signal }: PhpStart = {},
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
        ...(site.isInSafeMode && { 'stead.safe_mode': '1' }),
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
      signal,
    }
    const codeFile = code?.fileFor(site.phpVersion) ?? null
    const started = await WasmProcess.start(launch, { ...told, codeFile }, how).catch(async (error) => {
      if (codeFile === null || !(error instanceof PhpCrashed)) throw error
      const without = await WasmProcess.start(launch, { ...told, codeFile: null }, how)
      // The start succeeded without the code, so neither the site nor the machine was at fault.
      await code?.discard(site.phpVersion)
      return without
    })
    if (codeFile !== null && code?.fileFor(site.phpVersion) === codeFile)
      code.seen(site.phpVersion, started.hasMachineCode)
    processes.add(started)
    started.exited.then(() => processes.delete(started))
    if (disk) {
      // Measured while PHP started.
      const room = await disk.measured
      started.setDisk(room)
      // Only one process of a site directory is followed. A command counts its own writes, and the next measurement
      // includes them.
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
