import type { Readable, Writable } from 'node:stream'
import { uncounted } from '../../platform/operations/definition.ts'
import type { TaskInput, TaskName, TaskOutput } from './tasks.ts'

/** What sites may run; nothing else lists them. */
export const phpVersions = ['8.1', '8.2', '8.3'] as const
export type PhpVersion = (typeof phpVersions)[number]
/** Of sites for which nobody has asked for another, and of all that is made ahead of them. */
export const defaultPhpVersion: PhpVersion = '8.3'

/** What a PHP process needs to know of the site that it runs. */
export interface PhpSite {
  /** Folder with the site's `web/` and `private/`. */
  readonly siteDirectory: string
  /** Folder with the site's WordPress core, whose `wp-admin` and `wp-includes` are laid over the web root. */
  readonly corePath: string
  readonly phpVersion: PhpVersion
  /** User and group id that owns the site directory; null: the one that Stead runs as. */
  readonly uid: number | null
  /** Host name of the site's own address, with its port unless it is the usual one: `my.localhost:8081`. */
  readonly address: string
  /** WordPress starts without plugins and the site's theme; default: as it is. */
  readonly inSafeMode?: boolean
}

/** A visitor's request on its way to PHP. */
export interface PhpRequest {
  readonly method: string
  /** Raw path and query. */
  readonly path: string
  /** Instead of the one in `path`, where rules of the site have changed it. */
  readonly query?: string | undefined
  /** Absolute path of the PHP file as PHP sees it, such as `/wordpress/index.php`. */
  readonly script: string
  /** Raw pairs: name, value, name, value, … without hop-by-hop headers. */
  readonly headers: readonly string[]
  /** The whole body, of which there are `bodyBytes`; null when there is none. */
  readonly body: Readable | null
  readonly bodyBytes: number
  readonly remoteAddress: string
  readonly https: boolean
  readonly host: string
}

export interface PhpResponse {
  readonly status: number
  /** Raw pairs as PHP gave them; a repeated header is repeated. */
  readonly headers: readonly string[]
  /** Comes while PHP runs; ends with an error (`PhpCrashed`, `PhpTimeout`) when the process is lost. */
  readonly body: Readable
}

export interface PhpExit {
  readonly reason: string
  /** It was ended because it took too long or others waited, not by a fault of its own. */
  readonly timedOut: boolean
  readonly code: number | null
  readonly signal: string | null
}

/** What PHP's command line is given, and where it finds its program. */
export interface CommandPlan {
  /** Folder that PHP sees as `/command`, to be read only. */
  readonly programs: string
  readonly environment: Readonly<Record<string, string>>
}

/** Makes that nothing else of a site has its database open. @returns what ends that, given whether the database may be another now */
export type TakeTurn = () => Promise<(wrote: boolean) => void>

/** A command that runs. What is not read of it makes it wait. */
export interface PhpCommand {
  readonly input: Writable
  readonly output: Readable
  readonly errors: Readable
  /** Resolves with the exit code. @throws PhpCrashed, PhpTimeout when it was ended */
  readonly finished: Promise<number>
}

/**
 * One running PHP. It does one thing at a time, or requests `atOnce`; whoever calls must wait for `finished` (or the task's result) before
 * the next.
 */
export interface PhpProcess {
  readonly pid: number
  readonly phpVersion: PhpVersion
  /** Requests that it works on at once, and one more of those that a site sends to itself; default 1, and none. */
  readonly atOnce?: number
  readonly exited: Promise<PhpExit>
  /**
   * Called with what the site says to the host while it works (`post_message_to_js`), before anything that it prints after. It is
   * the site's word, to be checked like any input, and may come at any rate.
   */
  onNote: ((text: string) => void) | undefined
  /**
   * Called with what the site asks the host (`{"ask":…}` by `post_message_to_js`); PHP waits for the answer, which is what that function
   * returns. It is the site's word as well, one question at a time. No answer, or an error, is an empty text.
   */
  onAsk?: ((text: string) => Promise<string>) | undefined
  /** Called when PHP has asked for more memory; `lastResidentBytes` counts it already. */
  onGrowth: (() => void) | undefined
  /** After a request it should not get another one (it cannot resolve more names). */
  readonly worn: boolean
  /**
   * Runs one request. Resolves with the response's head; `finished` of the result resolves when PHP is free again.
   * @param signal breaks the request off, with its reason; the process ends with it unless it works on several
   * @throws PhpCrashed
   */
  request(request: PhpRequest, signal?: AbortSignal): Promise<PhpResponse & { readonly finished: Promise<void> }>
  /**
   * Runs one of Stead's PHP tasks. What comes back is the site's word: of the form that the task has, and no truer than that.
   * @throws PhpTaskError with PHP's message, and for an answer of another form; PhpTimeout; PhpCrashed
   */
  runTask<Name extends TaskName>(
    name: Name,
    input: TaskInput<Name>,
    options?: RunTaskOptions,
  ): Promise<TaskOutput<Name>>
  /**
   * Runs PHP's command line, once, in a process that was started for it. It has the database in turns with the process that serves
   * the site's requests: php-wasm has no file locks.
   */
  runCommand?(args: readonly string[], takeTurn: TakeTurn): PhpCommand
  /** It began with what another process has left of {@link machineCode}. Default false. */
  readonly hasMachineCode?: boolean
  /**
   * What was made of PHP itself where it ran often, for processes to come. Of a process that was warmed, and in which nobody's code has run.
   * @throws PhpCrashed
   */
  machineCode?(): Promise<Buffer>
  /** The site directory's wp-config.php and database have just been replaced: forgets what was kept of them, keeps the rest hot. */
  moveIn(change: { address: string }): Promise<void>
  /** Puts the process behind those of other sites, or back among them; it is behind Stead's own at any time. Does nothing where that is not possible. */
  setLowPriority(low: boolean): void
  /** Memory in use as far as it is known without asking the machine: when that was last done, and what PHP asked for since. */
  readonly lastResidentBytes: number
  /** Memory in use as the machine sees it now; 0 when the process is gone. */
  residentBytes(): Promise<number>
  /** Milliseconds since its start in which it could have computed, and others had the processor; 0 where the machine does not say. */
  waitedMs(): Promise<number>
  /** Lets the running job finish within the time, then ends the process. Resolves when it is gone. */
  stop(graceMs?: number): Promise<void>
  /** Ends the process now; what it was doing fails with `error`. */
  kill(error: Error): void
}

/** How far PHP is shut in, for the log, `/readyz` and operators. */
export interface Containment {
  /** Every site runs as a user of its own. */
  readonly uid: boolean
  readonly bubblewrap: boolean
  readonly nodePermissions: boolean
  /** `none-but-egress`: the process has no network at all; `refused in process`: only PHP's own calls are filtered. */
  readonly network: 'none-but-egress' | 'refused in process'
  readonly notes: readonly string[]
  /** What serves each version. */
  readonly runtimes: Readonly<Record<PhpVersion, RuntimeKind>>
}

export type RuntimeKind = 'wasm' | 'native' | 'refused'

/** The version by which things are made for all sites: the usual one, unless it does not run here. */
export function versionForAll(runtimes: { readonly [Version in PhpVersion]?: string | undefined }): PhpVersion {
  if (runtimes[defaultPhpVersion] !== 'refused') return defaultPhpVersion
  return phpVersions.findLast((version) => runtimes[version] !== 'refused') ?? defaultPhpVersion
}

/** What serves each version, by what is said of one. */
export const runtimesOf = (kindOf: (version: PhpVersion) => RuntimeKind): Record<PhpVersion, RuntimeKind> =>
  Object.fromEntries(phpVersions.map((version) => [version, kindOf(version)])) as Record<PhpVersion, RuntimeKind>

export interface PhpStart {
  readonly lowPriority?: boolean
  /** It runs one command and no requests. */
  readonly command?: CommandPlan
  /** What it compiles is kept in `private/compiled` of its site directory, to be read by all sites: nobody's code but the core's runs in it. */
  readonly keepsCompiled?: boolean
}

export interface PhpRuntime {
  /** Resolves when PHP can take its first request. @throws PhpCrashed */
  start(site: PhpSite, options?: PhpStart): Promise<PhpProcess>
  /** What the process of such a site takes, for who has to know it before there is one. */
  usualBytes(site: PhpSite): number
  containment(): Containment
  /** What processes leave for those to come; none where they have nothing to leave. */
  readonly machineCode?: {
    /** Of no use where that version runs otherwise. */
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

/** All PHP that the site may have waits for such a request of its own. */
export class PhpWaitsForItself extends PhpBusy {
  override name = 'PhpWaitsForItself'
}

/** PHP did not finish in time and was ended. */
export class PhpTimeout extends Error {
  override name = 'PhpTimeout'
}

/** It did not get the processor: the same work may succeed once the machine is less busy, and no attempt is used up. */
export class PhpStarved extends PhpTimeout {
  override name = 'PhpStarved'
  readonly [uncounted] = true
}

/** A long request was broken off, since other sites waited for its memory. */
export class PhpDisplaced extends PhpTimeout {
  override name = 'PhpDisplaced'
}

/** The process ended while it was needed. */
export class PhpCrashed extends Error {
  override name = 'PhpCrashed'
}

/** The process was gone before anything was said to it: whoever wanted something may ask the next one. */
export class PhpNotReached extends PhpCrashed {
  override name = 'PhpNotReached'
}

/** The machine had too little for it, or its process was gone: it says nothing about the site. */
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

/** A task threw; the message is PHP's, as people may be told it. */
export class PhpTaskError extends Error {
  override name = 'PhpTaskError'
  /** Which one, for the log. */
  readonly task: string | undefined
  /** WordPress did not start to its end: the task itself has done nothing. */
  readonly isEarly: boolean

  constructor(message: string, task?: string, isEarly = false) {
    super(message)
    this.task = task
    this.isEarly = isEarly
  }
}

/** How a process runs a task. */
export interface RunTaskOptions {
  readonly timeoutMs?: number | undefined
  /** Asked when that is over: whether the task may go on. */
  readonly mayGoOn?: (() => boolean) | undefined
  /** Without the site's plugins and theme. */
  readonly isSafe?: boolean | undefined
}

/** The caller went away before its turn. */
export class PhpAbandoned extends Error {
  override name = 'PhpAbandoned'
}
