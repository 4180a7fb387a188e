import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { bubblewrap, type CommandLine } from '../../../platform/processes/bubblewrap.ts'
import { killGroup, startGroup } from '../../../platform/processes/process-group.ts'
import { type Containment, type PhpSite, runtimesOf } from '../runtime.ts'
import { limitTime } from '../time-limit.ts'
import { compiledAt } from './compiled/compiled.ts'
import type { Mount } from './frames.ts'
import type { PhpProgram } from './program.ts'

/** The abilities of this machine, detected once. */
export interface Abilities {
  readonly root: boolean
  /** The path of a bubblewrap that works here. */
  readonly bubblewrap: string | undefined
  readonly notes: readonly string[]
}

/** How one child is started: program, arguments, and start message. */
export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly phpModule: string
  readonly mounts: readonly Mount[]
  /** The core's folders, which all sites share and no site can write. */
  readonly fixedFolders: readonly string[]
  readonly uid: number | null
  readonly sandboxed: boolean
}

/**
 * The folder in which programs look for the CAs that a machine trusts, such as Debian's WordPress and programs in
 * plugins.
 */
const systemCertificates = '/etc/ssl/certs'

/** Returns the V8 settings of a child. The measurements are in docs/design/php.md. */
export const v8Flags = (optimize: boolean): readonly string[] => [
  '--max-semi-space-size=1',
  '--single-threaded-gc',
  '--v8-pool-size=1',
  ...(optimize ? [] : ['--liftoff-only']),
]

/** @param wanted `auto` takes the strongest that works, `bubblewrap` requires it, `none` disables it */
export async function findAbilities(wanted: 'auto' | 'bubblewrap' | 'none'): Promise<Abilities> {
  const root = process.getuid?.() === 0
  if (wanted === 'none') return { root, bubblewrap: undefined, notes: ['bubblewrap is turned off'] }
  try {
    // A trial with everything that a child gets: containers often have the program and forbid its use.
    await tryOut(bubblewrap([...sandboxOptions(root), ...runtimeFiles(), process.execPath, '-e', '0']))
    return { root, bubblewrap: 'bwrap', notes: [] }
  } catch (error) {
    const reason = (error as Error).message.trim().split('\n')[0]
    if (wanted === 'bubblewrap') throw new Error(`bubblewrap does not work on this server: ${reason}`)
    return { root, bubblewrap: undefined, notes: [`no bubblewrap: ${reason}`] }
  }
}

/** Runs a program to its end. @throws when it fails, with what it printed */
async function tryOut({ command, args }: CommandLine): Promise<void> {
  const child = startGroup(command, args)
  let over: Error | undefined
  const onOver = (error: Error) => {
    over = error
    killGroup(child)
  }
  const lift = limitTime({ ms: 10_000, pid: child.pid ?? 0, what: 'It did not end', onOver })
  try {
    const [[code], said] = await Promise.all([once(child, 'close'), text(child.stderr)])
    if (code !== 0) throw over ?? new Error(said || `exit ${code}`)
  } finally {
    lift()
  }
}

/** Describes the containment of children on a machine with these abilities. */
export function containmentOf(abilities: Abilities, notes: readonly string[]): Containment {
  return {
    uid: abilities.root && notes.length === 0,
    bubblewrap: abilities.bubblewrap !== undefined,
    nodePermissions: true,
    network: abilities.bubblewrap ? 'none-but-egress' : 'refused in process',
    notes: [
      ...abilities.notes,
      ...notes,
      ...(abilities.root ? [] : ['Stead does not run as root, so sites share its user']),
    ],
    runtimes: runtimesOf(() => 'wasm'),
  }
}

export interface LaunchOptions {
  /** V8 flags that replace the usual ones. */
  readonly flags?: readonly string[]
  /** Whether the process may not change any of the site's files. */
  readonly isReadOnly?: boolean | undefined
  /** The folder that PHP sees as `/command`, read-only. */
  readonly programs?: string | undefined
  /** The folder that PHP sees as `/compiled`, read-only. */
  readonly compiled?: string | undefined
}

/** Plans the start of a site's process. */
export async function planLaunch(
  abilities: Abilities,
  site: PhpSite,
  program: PhpProgram,
  note: (text: string) => void,
  { flags = v8Flags(true), isReadOnly = false, programs, compiled }: LaunchOptions = {},
): Promise<Launch> {
  const directory = realpathSync(site.siteDirectory)
  const core = realpathSync(site.corePath)
  const php = program.phpPackage(site.phpVersion)
  const options = { flags, isReadOnly, programs, compiled }
  if (abilities.bubblewrap) return sandboxed(abilities, site, directory, core, php, program, options)
  let uid = abilities.root ? site.uid : null
  if (uid !== null && !((await everyoneMayPass(directory)) && (await everyoneMayPass(core)))) {
    note('other users cannot enter the folders above the sites, so without bubblewrap, sites run as the user of Stead')
    uid = null
  }
  const more: Mount[] = programs === undefined ? [] : [{ at: '/command', from: realpathSync(programs) }]
  if (compiled !== undefined) {
    const from = realpathSync(compiled)
    // Without it the site only starts more slowly.
    if (uid === null || (await everyoneMayPass(`${from}/.`))) more.push({ at: compiledAt, from })
  }
  const extra = more.map(({ from }) => from)
  const reads = [program.folder, php.folder, directory, `${core}/wp-admin`, `${core}/wp-includes`, ...extra]
  return {
    command: process.execPath,
    args: [
      ...flags,
      ...permissions(reads, isReadOnly ? [] : [`${directory}/web`, `${directory}/private`]),
      '--allow-worker',
      `${program.folder}/child/main.js`,
    ],
    phpModule: `${php.folder}/${php.module}`,
    uid,
    sandboxed: false,
    fixedFolders: [`${core}/wp-admin`, `${core}/wp-includes`],
    mounts: [
      { at: '/wordpress', from: `${directory}/web` },
      { at: '/wordpress/wp-admin', from: `${core}/wp-admin` },
      { at: '/wordpress/wp-includes', from: `${core}/wp-includes` },
      { at: '/private', from: `${directory}/private` },
      { at: '/tmp', from: `${directory}/private/tmp` },
      { at: systemCertificates, from: `${program.folder}/certificates` },
      ...more,
    ],
  }
}

/** A program of Stead that works on a site's data. It sees itself and one folder, and nothing else of the machine. */
export interface Tool {
  /** A folder that contains only programs, and the one in it that is run. */
  readonly programs: string
  readonly script: string
  /** The folder that the program may read and change. */
  readonly folder: string
  /** The user that it becomes before it opens anything there, or null for Stead's own user. */
  readonly uid: number | null
}

/** The command of a tool, its folder as the tool sees it, and the user that it becomes. */
export interface ToolLaunch {
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  readonly uid: number | null
}

/** Plans the start of a tool. The tool's own arguments follow. */
export async function planTool(abilities: Abilities, tool: Tool): Promise<ToolLaunch> {
  const programs = realpathSync(tool.programs)
  const folder = realpathSync(tool.folder)
  const wanted = abilities.root ? tool.uid : null
  if (!abilities.bubblewrap) {
    const uid = wanted !== null && (await everyoneMayPass(dirname(folder))) ? wanted : null
    const args = [...permissions([programs, folder], [folder]), `${programs}/${tool.script}`]
    return { command: process.execPath, args, folder, uid }
  }
  const binds = ['--ro-bind', programs, '/program', '--bind', folder, '/data', '--chdir', '/']
  const node = [process.execPath, ...permissions(['/program', '/data'], ['/data']), `/program/${tool.script}`]
  const args = [...sandboxOptions(abilities.root), ...runtimeFiles(), ...binds, ...node]
  return { ...bubblewrap(args, abilities.bubblewrap), folder: '/data', uid: wanted }
}

function sandboxed(
  abilities: Abilities,
  site: PhpSite,
  directory: string,
  core: string,
  php: { folder: string; module: string },
  program: PhpProgram,
  { flags, isReadOnly, programs, compiled }: LaunchOptions & { readonly flags: readonly string[] },
): Launch {
  const more: Mount[] = [
    ...(programs === undefined ? [] : [{ at: '/command', from: realpathSync(programs) }]),
    ...(compiled === undefined ? [] : [{ at: compiledAt, from: realpathSync(compiled) }]),
  ]
  const bind = isReadOnly ? '--ro-bind' : '--bind'
  const binds = [
    // bubblewrap creates the folders above a mount for its own user only.
    ['--perms', '0755', '--dir', '/site'],
    ['--ro-bind', program.folder, '/program'],
    ['--ro-bind', php.folder, '/php'],
    [bind, `${directory}/web`, '/site/web'],
    ['--ro-bind', `${core}/wp-admin`, '/site/web/wp-admin'],
    ['--ro-bind', `${core}/wp-includes`, '/site/web/wp-includes'],
    [bind, `${directory}/private`, '/site/private'],
    ...more.map(({ at, from }) => ['--ro-bind', from, at]),
  ].flat()
  const node = [
    process.execPath,
    ...flags,
    ...permissions(
      ['/program', '/php', '/site', ...more.map(({ at }) => at)],
      isReadOnly ? [] : ['/site/web', '/site/private'],
    ),
  ]
  const args = [...sandboxOptions(abilities.root), ...runtimeFiles(), ...binds, ...node, '/program/child/main.js']
  return {
    ...bubblewrap(args, abilities.bubblewrap),
    phpModule: `/php/${php.module}`,
    uid: abilities.root ? site.uid : null,
    sandboxed: true,
    fixedFolders: ['/site/web/wp-admin', '/site/web/wp-includes'],
    mounts: [
      { at: '/wordpress', from: '/site/web' },
      { at: '/private', from: '/site/private' },
      { at: '/tmp', from: '/site/private/tmp' },
      { at: systemCertificates, from: '/program/certificates' },
      ...more.map(({ at }) => ({ at, from: at })),
    ],
  }
}

/**
 * Returns the sandbox options. As root, root creates the sandbox, so that folders above the site need not be open to
 * the site's user. The child keeps just the rights that it needs to become that user, and then loses them. It gets no
 * user namespace in this case, because the site's uid would not exist in it. The child already starts in a separate
 * session without a terminal (process.ts).
 */
export function sandboxOptions(root: boolean): string[] {
  const unshare = ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try']
  const rights = root
    ? ['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID']
    : ['--unshare-user', '--cap-drop', 'ALL']
  return [...unshare, ...rights, '--die-with-parent', '--clearenv', '--proc', '/proc', '--dev', '/dev']
}

/**
 * Returns Node and the libraries that it has loaded, read-only, at their own paths, and nothing else of the machine.
 */
function runtimeFiles(): string[] {
  libraries ??= loadedLibraries()
  const files = new Set([process.execPath, ...libraries])
  return [...files].flatMap((file) => ['--ro-bind', realpathSync(file), file])
}

/** Found once: a report about this process contains much more, and takes longer the more the process does. */
let libraries: readonly string[] | undefined

function loadedLibraries(): string[] {
  const report = process.report as unknown as { excludeNetwork: boolean; getReport(): { sharedObjects: string[] } }
  const before = report.excludeNetwork
  report.excludeNetwork = true // otherwise it looks up a name for every open connection
  const { sharedObjects } = report.getReport()
  report.excludeNetwork = before
  return sharedObjects.filter((path) => path.startsWith('/'))
}

function permissions(read: string[], write: string[]): string[] {
  return [
    '--no-warnings',
    '--permission',
    ...read.map((path) => `--allow-fs-read=${path}/*`),
    ...write.flatMap((path) => [`--allow-fs-write=${path}/*`]),
  ]
}

/** Returns whether a user that owns nothing above the folder can reach it. */
async function everyoneMayPass(path: string): Promise<boolean> {
  for (let above = dirname(path); ; above = dirname(above)) {
    if (((await stat(above)).mode & 0o001) === 0) return false
    if (above === dirname(above)) return true
  }
}
