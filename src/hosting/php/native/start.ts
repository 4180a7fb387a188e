import { realpathSync } from 'node:fs'
import { chown, mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { createResolver } from '../../../platform/fetch/resolver.ts'
import { findProgram, firstProgram } from '../../../platform/files/find-program.ts'
import { isOnMariaDb } from '../../mariadb/on-mariadb.ts'
import {
  type CommandPlan,
  type Containment,
  type PhpProcess,
  type PhpRuntime,
  type PhpSite,
  type PhpStart,
  PhpUnavailable,
  type PhpVersion,
  phpVersions,
  runtimesOf,
} from '../runtime.ts'
import { findAbilities } from '../wasm/containment.ts'
import { commandIni, mostPhpBytes } from '../wasm/ini.ts'
import { createNames, type Names } from '../wasm/names.ts'
import type { Egress } from '../wasm/network/egress.ts'
import { machineCertificates } from '../wasm/network/machine-certificates.ts'
import type { WasmRuntimeOptions } from '../wasm/start.ts'
import type { ServerLogin } from '../wp-config.ts'
import { Cgroups } from './cgroups.ts'
import { serveEgressSocket } from './egress-socket.ts'
import { defaultFpmLimits, type FpmLimits, fpmConfig, iniText, mostAddressesKb, nativeIni } from './fpm-settings.ts'
import { listenToSite } from './host-channel.ts'
import { NativeCommand } from './native-command.ts'
import { findNativePhp, type NativePhp, userChanger } from './native-php.ts'
import { Networks, networkPrograms } from './networks.ts'
import { PhpFiles } from './php-files.ts'
import { type Heard, type NativeLaunch, NativeProcess } from './process.ts'
import { type NativeProgram, prepareNative } from './program.ts'
import { type Sandbox, sandboxArguments } from './sandbox.ts'

export interface NativeRuntimeOptions extends Omit<WasmRuntimeOptions, 'optimize' | 'v8Flags'> {
  readonly fpm?: FpmLimits
  /** Set when databases of sites are on a server. */
  readonly databases?: NativeDatabases | undefined
  /** A cgroup v2 folder that is delegated to Stead, and the limits for sites. */
  readonly groups?: { readonly folder: string; readonly memoryBytes: number; readonly siteMemoryBytes: number }
}

export interface NativeDatabases {
  /** Folder that contains only the socket. */
  readonly socketFolder: string
  /** Returns the login of a site's database. */
  loginOf(siteDirectory: string): Promise<ServerLogin>
}

/** The runtime on this machine's PHP. */
export interface NativeRuntime extends PhpRuntime {
  /** The PHP versions it can run, and for the others the reason why not. */
  readonly versions: ReadonlyMap<PhpVersion, { readonly missing?: string }>
}

/**
 * Creates the runtime on php-fpm: one master per site, in a separate sandbox.
 * @throws when `sandbox` requires bubblewrap, which does not work here
 */
export async function createNativeRuntime(options: NativeRuntimeOptions): Promise<NativeRuntime> {
  const runtime = new Runtime(options)
  await runtime.open()
  return runtime
}

/** Processes and threads. Libraries of PHP use some for name lookups and images. */
const processesOfRequest = 16
const processesOfSandbox = 32
/** Memory of a site's master with its children (Pss) after the homepage and wp-admin, one visitor at a time. */
const usualBytes = 100 << 20
/** A start takes one, and the next is created after it. */
const networksAhead = 2
const refillAfterMs = 100

class Runtime implements NativeRuntime {
  readonly versions = new Map<PhpVersion, { missing?: string; php?: NativePhp }>()
  readonly #options: NativeRuntimeOptions
  readonly #names: Names
  readonly #processes = new Set<PhpProcess>()
  #program: NativeProgram | undefined
  #networks: Networks | undefined
  #phpFiles: PhpFiles | undefined
  #groups: Cgroups | undefined
  /** Describes how sites are limited. */
  #bounds = ''
  #started = 0
  #closed = false

  constructor(options: NativeRuntimeOptions) {
    this.#options = options
    this.#names = createNames({ resolver: createResolver(), lookups: options.budgets.lookups })
  }

  async open(): Promise<void> {
    const { sandbox, programFolder, certificates = machineCertificates(), morePhp } = this.#options
    const reason = await findMissing(sandbox)
    for (const version of phpVersions) {
      const found = reason === undefined ? await findNativePhp(version, this.#options.databases) : { missing: reason }
      this.versions.set(version, 'missing' in found ? found : { php: found })
    }
    this.#program = await prepareNative(certificates, morePhp ?? {}, programFolder)
    this.#phpFiles = new PhpFiles(join(this.#program.folder, 'php'))
    // In the background, so that it is ready for the first site.
    for (const { php } of this.versions.values()) if (php) this.#phpFiles.of(php).catch(() => {})
    await this.#openGroups()
    this.#networks = new Networks(this.#program.networkChild, reason === undefined ? networksAhead : 0)
  }

  async start(site: PhpSite, { lowPriority = false, command }: PhpStart = {}): Promise<PhpProcess> {
    if (this.#closed) throw new Error('the PHP runtime is closed')
    const { disk, priority, budgets } = this.#options
    const isLowPriority = this.#options.isLowPriority?.() ?? true
    const room = await disk?.beforeStart(site.siteDirectory)
    const own = await this.#layOut(site, { command, isReadOnly: room?.isReadOnly ?? false })
    const settled = {
      phpVersion: site.phpVersion,
      siteDirectory: site.siteDirectory,
      address: site.address,
      results: budgets.taskResults,
      atOnce: this.#atOnce,
      priority: isLowPriority ? priority : 0,
      lowPriority: lowPriority && isLowPriority,
      timeoutMs: this.#options.startTimeoutMs ?? 30_000,
    }
    const starting = command ? new NativeCommand(own, settled) : NativeProcess.start(own, settled)
    const started = await Promise.resolve(starting).finally(() => {
      // After its first page, because starting the helper blocks the host for milliseconds.
      setTimeout(() => this.#networks?.refill(), refillAfterMs).unref()
    })
    this.#processes.add(started)
    started.exited.then(() => this.#processes.delete(started))
    // Only one process per site directory is followed. The next measurement sees what a command writes.
    if (room && started instanceof NativeProcess) disk?.follow(site.siteDirectory, started, await room.measured)
    if (this.#closed) await started.stop(0)
    return started
  }

  usualBytes(): number {
    return usualBytes
  }

  async #openGroups(): Promise<void> {
    const { groups } = this.#options
    this.#bounds = 'Stead polls the memory and processes of native PHP, because STEAD_CGROUP is not set'
    if (!groups) return
    try {
      this.#groups = await Cgroups.open(groups.folder, groups)
      const { missing } = this.#groups
      const but = missing.length > 0 ? ` except ${missing.join(', ')}, which this server does not provide` : ''
      this.#bounds = `the kernel limits the resources of sites (${groups.folder}${but})`
    } catch (error) {
      this.#bounds = `Stead cannot use STEAD_CGROUP: ${(error as Error).message}`
    }
  }

  get #atOnce(): number {
    return (this.#options.fpm ?? defaultFpmLimits).atOnce
  }

  containment(): Containment {
    const missing = (version: PhpVersion) => this.versions.get(version)?.missing
    return {
      uid: true,
      bubblewrap: true,
      nodePermissions: false,
      network: 'none-but-egress',
      notes: [
        ...phpVersions.flatMap((version) =>
          missing(version) === undefined ? [] : [`PHP ${version} is not native: ${missing(version)}`],
        ),
        this.#bounds,
      ],
      runtimes: runtimesOf((version) => (missing(version) === undefined ? 'native' : 'refused')),
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#processes].map((each) => each.stop(2000)))
    this.#networks?.close()
    await this.#phpFiles?.settled()
    await this.#program?.remove()
  }

  /** Prepares one sandbox: settings, a folder for php-fpm's socket, and the receiver of the site's messages. */
  async #layOut(site: PhpSite, how: { command: CommandPlan | undefined; isReadOnly: boolean }): Promise<NativeLaunch> {
    const program = this.#program as NativeProgram
    const { php, missing } = this.versions.get(site.phpVersion) ?? { missing: 'it is not known' }
    if (!php) throw new PhpUnavailable(`PHP ${site.phpVersion} does not run natively on this server: ${missing}`)
    const { command, isReadOnly } = how
    const folder = join(program.folder, `run${++this.#started}`)
    const [settings, listening] = [join(folder, 'settings'), join(folder, 'listen')]
    await mkdir(settings, { recursive: true })
    const heard: Heard = { isReady: Promise.resolve(), onNote: () => {}, onAsk: async () => '' }
    const databases = isOnMariaDb(site.siteDirectory) ? this.#options.databases : undefined
    const login = await databases?.loginOf(site.siteDirectory)
    const server = await this.#writeSettings(site, php, { settings, listening, command, heard, login })
    const sandbox: Sandbox = {
      phpFiles: await (this.#phpFiles as PhpFiles).of(php),
      ...{ php, program, settings, isReadOnly, uid: site.uid, environment: command?.environment ?? {} },
      siteDirectory: realpathSync(site.siteDirectory),
      core: realpathSync(site.corePath),
      listening: command ? undefined : listening,
      databaseSocket: databases?.socketFolder,
      programs: command && realpathSync(command.programs),
    }
    const group = await this.#groups?.make({
      memoryBytes: this.#options.groups?.siteMemoryBytes ?? 0,
      most: this.#atOnce * processesOfRequest + processesOfSandbox,
    })
    const network = await (this.#networks as Networks).take().catch((error) => {
      server.close()
      void group?.end()
      throw error
    })
    const found = Promise.withResolvers<number>()
    const ownName = site.address.replace(/:\d+$/, '')
    const closeEgressSocket = serveEgressSocket(network, { pid: found.promise, egress: this.#egress(site), ownName })
    return {
      php,
      heard,
      group,
      args: sandboxArguments(sandbox),
      socket: join(folder, 'fpm'),
      mostAddressesKb: mostAddressesKb(mostPhpBytes(this.#options)),
      network: network.path,
      found: found.resolve,
      // Moves the socket out of the sandbox before any PHP of the site runs.
      takeSocket: async () => {
        await rename(join(listening, 'fpm'), join(folder, 'fpm'))
        await rmdir(listening)
      },
      whenGone: () => {
        closeEgressSocket()
        void group?.end().catch(() => {})
        server.close()
        void rm(folder, { recursive: true, force: true }).catch(() => {})
      },
    }
  }

  async #writeSettings(site: PhpSite, php: NativePhp, own: OwnSettings): Promise<Server> {
    const { settings, listening, command, heard, login } = own
    const ini = {
      ...nativeIni(this.#options),
      ...(this.#atOnce > 1 && { 'stead.has_several': '1' }),
      ...(site.isInSafeMode && { 'stead.safe_mode': '1' }),
      ...(command && commandIni),
      ...this.#options.ini,
    }
    await writeFile(join(settings, 'php.ini'), iniText(php, ini), { mode: 0o644 })
    await writeFile(join(settings, 'fpm.conf'), fpmConfig(this.#options.fpm ?? defaultFpmLimits), { mode: 0o644 })
    // For Adminer. The site's PHP reads the same in wp-config.php.
    if (login) await writeFile(join(settings, 'database.json'), JSON.stringify(login), { mode: 0o644 })
    await mkdir(listening)
    if (site.uid !== null) await chown(listening, site.uid, site.uid)
    return listenToSite(join(settings, 'host'), {
      isReady: () => heard.isReady,
      onNote: (text) => heard.onNote(text),
      onAsk: (text) => heard.onAsk(text),
    })
  }

  #egress(site: PhpSite): Egress {
    const { egress: policy, edge, budgets } = this.#options
    return { policy, edge, names: this.#names, connections: budgets.outgoing, site: site.siteDirectory }
  }
}

interface OwnSettings {
  readonly settings: string
  readonly listening: string
  readonly command: CommandPlan | undefined
  readonly heard: Heard
  readonly login: ServerLogin | undefined
}

/** Returns what this machine lacks to run any version of native PHP, or undefined. */
export async function findMissing(sandbox: NativeRuntimeOptions['sandbox']): Promise<string | undefined> {
  const { root, bubblewrap, notes } = await findAbilities(sandbox)
  if (!root) return 'Stead does not run as root'
  if (!bubblewrap) return notes.join(', ')
  for (const program of networkPrograms) if (!(await findProgram(program))) return `${program} is not there`
  return (await firstProgram([userChanger])) ? undefined : `${userChanger} is not there`
}
