import type { PhpPool, PooledSite } from '../php/pool/pool.ts'
import { PhpBusy, PhpCrashed, PhpTimeout } from '../php/runtime.ts'
import { SiteUnavailable } from '../site-database/site-database.ts'
import { type CommandIo, type Ended, forward, write } from './command-io.ts'
import { type GivenCommand, LineRefused } from './command-line.ts'
import { plainWords } from './command-name.ts'
import {
  type CommandFiles,
  type DatabaseCommandParts,
  databaseCommand,
  runDatabaseCommand,
} from './database-commands.ts'
import { InnerCommands } from './inner-commands.ts'
import { PHAR, type WpCli, WpCliMissing } from './wp-cli.ts'

/** The time limit of a command. */
const MOST_MS = 30 * 60_000
const [FAILED, TIMED_OUT, KILLED] = [1, 124, 137]
/**
 * Commands that would change the files of the core, which do not belong to the site, or that need programs that no site
 * has.
 */
const REFUSED: Readonly<Record<string, string>> = {
  'core update': "WordPress itself is updated by Stead: ask for another version by the site's API (cms_version).",
  'core download': "WordPress itself is laid out by Stead: ask for another version by the site's API (cms_version).",
  server: 'Stead serves this site already. Open its address instead.',
  shell:
    "There is no interactive shell here. Use `wp eval '<code>'`, or `wp eval-file -` with the code as standard input.",
}

export interface WpCommandsOptions extends DatabaseCommandParts {
  readonly wpCli: WpCli
  readonly pool: Pick<PhpPool, 'runCommand' | 'runTask' | 'hold' | 'release'>
  readonly mostMs?: number
}

/** Runs `wp …` for one site. Failures are reported on the command's standard error. */
export interface WpCommands {
  /** @throws the signal's reason, and unexpected errors */
  run(site: PooledSite, given: GivenCommand, io: CommandIo, files: CommandFiles): Promise<Ended>
}

export function createWpCommands(options: WpCommandsOptions): WpCommands {
  return {
    run: (site, { words, environment }, io, files) => runWords(options, words, { site, io, files, environment }),
  }
}

/** A command from a user, or started by another command. */
export interface CommandCall {
  readonly site: PooledSite
  readonly io: CommandIo
  readonly files: CommandFiles
  /** Variables that its user has set. */
  readonly environment: Readonly<Record<string, string>>
}

async function runWords(
  options: WpCommandsOptions,
  words: readonly string[],
  { io: given, ...call }: CommandCall,
): Promise<Ended> {
  const { mostMs = MOST_MS } = options
  const late = AbortSignal.timeout(mostMs)
  const io = { ...given, signal: AbortSignal.any([given.signal, late]) }
  try {
    requirePossible(words)
    const own = databaseCommand(words)
    return await (own ? runDatabaseCommand(options, own, { ...call, io }) : runPhp(options, words, { ...call, io }))
  } catch (error) {
    given.signal.throwIfAborted()
    const { text, code } = late.aborted
      ? {
          text: `The command was ended: it took longer than ${Math.round(mostMs / 60_000)} minutes.`,
          code: TIMED_OUT,
        }
      : failureOf(error)
    await write(io.errors, `Error: ${text}\n`, given.signal)
    return { code, wrote: true }
  }
}

function requirePossible(words: readonly string[]): void {
  const [group, name] = plainWords(words)
  const refusal = REFUSED[`${group} ${name}`] ?? REFUSED[`${group}`]
  if (refusal !== undefined) throw new LineRefused(refusal)
}

/** @throws errors that are not for users */
function failureOf(error: unknown): { text: string; code: number } {
  if (error instanceof PhpBusy)
    return { text: `The command cannot run now: ${error.message}. Try again in a moment.`, code: FAILED }
  if (error instanceof PhpTimeout) return { text: `The command was ended: ${error.message}.`, code: TIMED_OUT }
  if (error instanceof PhpCrashed) return { text: `The command was ended: ${error.message}.`, code: KILLED }
  if (error instanceof LineRefused || error instanceof WpCliMissing || error instanceof SiteUnavailable)
    return { text: error.message, code: FAILED }
  throw error
}

async function runPhp(options: WpCommandsOptions, words: readonly string[], call: CommandCall): Promise<Ended> {
  const { signal, columns, input: given, output, errors } = call.io
  const inner = new InnerCommands((innerWords, io) => runWords(options, ['wp', ...innerWords], { ...call, io }))
  const command = await options.pool.runCommand(call.site, {
    programs: await options.wpCli.folder(),
    environment: { ...environmentOf(columns), ...call.environment },
    args: [`/command/${PHAR}`, ...words.slice(1)],
    onAsk: (text) => inner.answer(text, call.io),
  })
  const stop = () => command.kill(new PhpCrashed('the caller has left'))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  const input = given.pipe(command.input)
  try {
    await Promise.all([forward(command.output, output, signal), forward(command.errors, errors, signal)])
    return { code: await command.finished, wrote: command.wrote() || inner.wrote }
  } finally {
    signal.removeEventListener('abort', stop)
    given.unpipe(input)
    stop()
    // The caller that ends a command waits until nothing of the command uses the site.
    await Promise.all([command.exited, inner.end()])
  }
}

/** Returns what WP-CLI looks for: a writable `$HOME`, and whether the user sees colors and tables. */
const environmentOf = (columns: number | undefined): Record<string, string> => ({
  HOME: '/tmp',
  PWD: '/wordpress',
  USER: 'site',
  TERM: columns === undefined ? 'dumb' : 'xterm',
  SHELL_PIPE: columns === undefined ? '1' : '0',
  ...(columns !== undefined && { COLUMNS: String(columns) }),
  WP_CLI_CACHE_DIR: '/tmp/wp-cli-cache',
  WP_CLI_PACKAGES_DIR: '/private/wp-cli-packages',
  WP_CLI_DISABLE_AUTO_CHECK_UPDATE: '1',
})
