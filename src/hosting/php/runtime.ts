import type { Readable, Writable } from 'node:stream'
import { uncounted } from '../../platform/operations/definition.ts'
import type { FlagsReadBy } from '../../site-flags.ts'
import type { RuntimeKind } from './runtime-kinds.ts'
import type { TaskInput, TaskName, TaskOutput } from './tasks.ts'

/** The versions that sites can run. This is their only list. */
export const phpVersions = ['8.1', '8.2', '8.3'] as const
export type PhpVersion = (typeof phpVersions)[number]
/** The version of sites without an explicit one, and of everything that is prepared before them. */
export const defaultPhpVersion: PhpVersion = '8.3'

/** The facts about a site that its PHP process needs. */
export interface PhpSite extends FlagsReadBy<'host'> {
  /** The folder with the site's `web/` and `private/`. */
  readonly siteDirectory: string
  /** The folder with the site's WordPress core, whose `wp-admin` and `wp-includes` are mounted over the web root. */
  readonly corePath: string
  readonly phpVersion: PhpVersion
  /** The user and group ID that owns the site directory, or null for the one that Stead runs as. */
  readonly uid: number | null
  /** The host name of the site's own address, with its port unless it is the usual one: `my.localhost:8081`. */
  readonly address: string
}

/** A visitor's request on its way to PHP. */
export interface PhpRequest {
  readonly method: string
  /** The raw path and query. */
  readonly path: string
  /** Replaces the query in `path`, if rules of the site have changed it. */
  readonly query?: string | undefined
  /** The absolute path of the PHP file as PHP sees it, such as `/wordpress/index.php`. */
  readonly script: string
  /** Raw pairs: name, value, name, value, … without hop-by-hop headers. */
  readonly headers: readonly string[]
  /** The whole body of `bodyBytes` bytes, or null when there is none. */
  readonly body: Readable | null
  readonly bodyBytes: number
  readonly remoteAddress: string
  readonly https: boolean
  readonly host: string
}

export interface PhpResponse {
  readonly status: number
  /** Raw pairs from PHP. A repeated header is repeated. */
  readonly headers: readonly string[]
  /** Arrives while PHP runs. Ends with an error (`PhpCrashed`, `PhpTimeout`) when the process is lost. */
  readonly body: Readable
}

export interface PhpExit {
  readonly reason: string
  /** Whether it was ended because it took too long or others waited, and not because it failed. */
  readonly timedOut: boolean
  readonly code: number | null
  readonly signal: string | null
}

/** The environment of PHP's command line, and the folder of its program. */
export interface CommandPlan {
  /** The folder that PHP sees as `/command`, read-only. */
  readonly programs: string
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Waits until nothing else of a site has its database open.
 * @returns a function that ends the turn, called with whether the database may have changed
 */
export type TakeTurn = () => Promise<(wrote: boolean) => void>

/** A running command. It waits while its output is not read. */
export interface PhpCommand {
  readonly input: Writable
  readonly output: Readable
  readonly errors: Readable
  /** Resolves with the exit code. @throws PhpCrashed, PhpTimeout when it was ended */
  readonly finished: Promise<number>
}

/**
 * One running PHP process. It does one thing at a time, or `atOnce` requests. Callers must wait for `finished` (or the
 * task's result) before the next.
 */
export interface PhpProcess {
  readonly pid: number
  readonly phpVersion: PhpVersion
  /**
   * The number of simultaneous requests. With it, the process also takes one more of those that a site sends to itself.
   * Default 1, and none.
   */
  readonly atOnce?: number
  readonly exited: Promise<PhpExit>
  /**
   * Called with the site's messages to the host while it works (`post_message_to_js`), before anything that it prints
   * later. The messages are untrusted input of the site, and may arrive at any rate.
   */
  onNote: ((text: string) => void) | undefined
  /**
   * Called with the site's questions to the host (`{"ask":…}` through `post_message_to_js`), one at a time. PHP waits
   * for the answer, which that function returns. Questions are untrusted too. No answer, or an error, becomes an empty
   * text.
   */
  onAsk?: ((text: string) => Promise<string>) | undefined
  /** Called when PHP has requested more memory. `lastResidentBytes` already includes it. */
  onGrowth: (() => void) | undefined
  /** Whether it should not get another request after the current one, because it cannot resolve more names. */
  readonly worn: boolean
  /**
   * Runs one request. Resolves with the response's head. `finished` of the result resolves when PHP is free again.
   * @param signal aborts the request, with its reason; the process ends with it unless it works on several
   * @throws PhpCrashed
   */
  request(request: PhpRequest, signal?: AbortSignal): Promise<PhpResponse & { readonly finished: Promise<void> }>
  /**
   * Runs one of Stead's PHP tasks. The result has the form of that task, but the site controls its contents.
   * @throws PhpTaskError with PHP's message, and for an answer of another form; PhpTimeout; PhpCrashed
   */
  runTask<Name extends TaskName>(
    name: Name,
    input: TaskInput<Name>,
    options?: RunTaskOptions,
  ): Promise<TaskOutput<Name>>
  /**
   * Runs PHP's command line, once, in a process that was started for it. It takes turns at the database with the
   * process that serves the site's requests, because php-wasm has no file locks.
   */
  runCommand?(args: readonly string[], takeTurn: TakeTurn): PhpCommand
  /** Whether it started with the {@link machineCode} of another process. Default false. */
  readonly hasMachineCode?: boolean
  /**
   * Returns the machine code of PHP's frequently used parts, for later processes. Only for a warmed process in which no
   * site's code has run.
   * @throws PhpCrashed
   */
  machineCode?(): Promise<Buffer>
  /**
   * Forgets cached state, because the site directory's wp-config.php and database have just been replaced. Keeps the
   * rest hot.
   */
  moveIn(change: { address: string }): Promise<void>
  /**
   * Lowers the process' priority below that of other sites, or restores it. It is always below that of Stead's own
   * processes. Does nothing if that is not possible.
   */
  setLowPriority(low: boolean): void
  /** Memory in use, known without a system call: the last measurement, plus what PHP has requested since. */
  readonly lastResidentBytes: number
  /** Returns the memory in use as the machine sees it now; 0 when the process is gone. */
  residentBytes(): Promise<number>
  /**
   * Returns the milliseconds since its start in which it was ready to run while others had the processor; 0 if the
   * machine does not report it.
   */
  waitedMs(): Promise<number>
  /** Lets the running job finish within the time, then ends the process. Resolves when it is gone. */
  stop(graceMs?: number): Promise<void>
  /** Ends the process now. Its current work fails with `error`. */
  kill(error: Error): void
}

/** How far PHP is contained, for the log, `/readyz`, and operators. */
export interface Containment {
  /** Whether every site runs as a separate user. */
  readonly uid: boolean
  readonly bubblewrap: boolean
  readonly nodePermissions: boolean
  /** `none-but-egress`: the process has no network at all. `refused in process`: only PHP's own calls are filtered. */
  readonly network: 'none-but-egress' | 'refused in process'
  readonly notes: readonly string[]
  /** The runtime of each version. */
  readonly runtimes: Readonly<Record<PhpVersion, RuntimeKind | 'refused'>>
}

/** Returns the version for what is prepared for all sites: the default, unless it does not run here. */
export function versionForAll(runtimes: { readonly [Version in PhpVersion]?: string | undefined }): PhpVersion {
  if (runtimes[defaultPhpVersion] !== 'refused') return defaultPhpVersion
  return phpVersions.findLast((version) => runtimes[version] !== 'refused') ?? defaultPhpVersion
}

/** Returns the runtime of each version, from a function that returns it for one. */
export const runtimesOf = (kindOf: (version: PhpVersion) => RuntimeKind | 'refused'): Containment['runtimes'] =>
  Object.fromEntries(phpVersions.map((version) => [version, kindOf(version)])) as Containment['runtimes']

export interface PhpStart {
  readonly lowPriority?: boolean
  /** Set if it runs one command and no requests. */
  readonly command?: CommandPlan
  /**
   * Whether to keep what it compiles in `private/compiled` of its site directory, for all sites to read. Only the
   * core's code runs in such a process.
   */
  readonly keepsCompiled?: boolean
  /** Ends the process before it is ready, with its reason. */
  readonly signal?: AbortSignal | undefined
}

export interface PhpRuntime {
  /** Resolves when PHP can take its first request. @throws PhpCrashed, and the signal's reason */
  start(site: PhpSite, options?: PhpStart): Promise<PhpProcess>
  /** Returns the usual memory of such a site's process, for decisions before the process exists. */
  usualBytes(site: PhpSite): number
  containment(): Containment
  /** Machine code that processes store for later ones; undefined if they have none to store. */
  readonly machineCode?: {
    /** Has no meaning if another runtime runs that version. */
    isMissing(version: PhpVersion): boolean
    keep(version: PhpVersion, code: Buffer): Promise<void>
  }
  /** Ends all processes that it started. */
  close(): Promise<void>
}

/** Too many requests wait for this site. */
export class PhpBusy extends Error {
  override name = 'PhpBusy'
}

/** All PHP processes that the site may have are waiting for such a request of the site itself. */
export class PhpWaitsForItself extends PhpBusy {
  override name = 'PhpWaitsForItself'
}

/** PHP did not finish in time and was ended. */
export class PhpTimeout extends Error {
  override name = 'PhpTimeout'
}

/**
 * PHP did not get the processor. The same work may succeed once the machine is less busy, and no attempt is used up.
 */
export class PhpStarved extends PhpTimeout {
  override name = 'PhpStarved'
  readonly [uncounted] = true
}

/** A long request was aborted because other sites waited for its memory. */
export class PhpDisplaced extends PhpTimeout {
  override name = 'PhpDisplaced'
}

/** The process ended while it was needed. */
export class PhpCrashed extends Error {
  override name = 'PhpCrashed'
}

/** The process was gone before it received anything. Callers may retry with the next process. */
export class PhpNotReached extends PhpCrashed {
  override name = 'PhpNotReached'
}

/**
 * Returns whether the error was caused by the host and not the site: the machine lacked resources, or the process was
 * gone.
 */
export const isHostsDoing = (error: unknown): boolean =>
  [PhpStarved, PhpDisplaced, PhpNotReached, PhpBusy].some((kind) => error instanceof kind)

/** The request's body is longer than a site may take. */
export class PhpBodyTooLarge extends Error {
  override name = 'PhpBodyTooLarge'
}

/** This host has no PHP of the version that the site wants. */
export class PhpUnavailable extends PhpCrashed {
  override name = 'PhpUnavailable'
}

/** How a process runs a task. */
export interface RunTaskOptions {
  readonly timeoutMs?: number | undefined
  /** Called when the time is over. Returns whether the task may continue. */
  readonly mayGoOn?: (() => boolean) | undefined
  /** Whether to run without the site's plugins and theme. */
  readonly isSafe?: boolean | undefined
}

/** The caller left before its turn. */
export class PhpAbandoned extends Error {
  override name = 'PhpAbandoned'
}
