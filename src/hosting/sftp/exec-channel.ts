import type { ServerChannel } from 'ssh2'
import { write } from '../wp-cli/command-io.ts'
import { commandOf, type GivenCommand, isForWp, LineRefused } from '../wp-cli/command-line.ts'
import { commandName, mayChange } from '../wp-cli/command-name.ts'
import type { Jail } from './jail.ts'
import { JailFiles } from './jail-files.ts'
import type { RemoteCommands } from './remote-commands.ts'
import type { SftpLogin } from './sftp-access.ts'
import { terminal } from './terminal.ts'

const [FAILED, UNKNOWN, INTERRUPTED] = [1, 127, 130]
/** Longest command line. */
const MOST_BYTES = 1 << 17

export const ONLY_SFTP =
  'This service is for files only: use SFTP (sftp, scp of OpenSSH 9 or newer, FileZilla, WinSCP, rclone, sshfs). There is no shell.\n'
const NO_SHELL =
  'There is no shell: use SFTP for files, and pass WP-CLI commands to ssh for everything else, such as: ssh … wp plugin list\n'
const NO_COMMAND = 'There is no shell, and the only command is wp (WP-CLI), such as: ssh … wp plugin list\n'
const NO_ACCESS =
  'Error: wp needs the role wp_access on this site besides sftp_access; the owner of the site can give it.\n'

export interface ExecOptions {
  readonly login: SftpLogin
  /** Undefined when the client requested a shell. */
  readonly line: string | undefined
  /** Width of the client's terminal. Undefined without one. */
  readonly columns: number | undefined
  readonly commands: RemoteCommands | undefined
  /** Resolves after the user's access was checked. */
  readonly admitted: Promise<Jail | undefined>
  /** Called when something of the site has changed. */
  readonly changed: () => void
  readonly log: { error(facts: object, message: string): void; warn(facts: object, message: string): void }
}

/** A channel that runs one command. */
export class ExecChannel {
  readonly #stream: ServerChannel
  readonly #options: ExecOptions
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(stream: ServerChannel, options: ExecOptions) {
    this.#stream = stream
    this.#options = options
    stream.on('error', () => {})
    stream.stderr.on('error', () => {})
    stream.once('close', () => this.#stop.abort(new Error('the client went away')))
    this.#ended = this.#run()
  }

  /** Resolves when the command has ended. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /** @returns a promise that resolves when nothing of it uses the site any longer */
  end(): Promise<void> {
    this.#stop.abort(new Error('the connection ends'))
    return this.#ended
  }

  /** Ends the command if its user may no longer run commands. */
  async look(): Promise<void> {
    const { commands, login } = this.#options
    if (commands && !(await commands.mayRun(login))) await this.end()
  }

  async #run(): Promise<void> {
    const { log, login } = this.#options
    let code = FAILED
    try {
      code = await this.#code()
    } catch (error) {
      if (!this.#stop.signal.aborted) {
        log.error({ err: error, siteId: login.siteId }, 'a command failed that came by SSH')
        await this.#tell('Error: something went wrong on the host; its operator finds it in the log.\n').catch(() => {})
      }
    }
    if (this.#stream.destroyed) return
    this.#stream.exit(code)
    this.#stream.end()
  }

  async #code(): Promise<number> {
    const { line, commands, login } = this.#options
    if (line === undefined) return this.#refuse(commands ? NO_SHELL : ONLY_SFTP, FAILED)
    // The old scp protocol, and clients that start the server themselves.
    if (!commands || /^\s*(scp|\S*sftp-server)(\s|$)/.test(line)) return this.#refuse(ONLY_SFTP, FAILED)
    if (!isForWp(line)) return this.#refuse(NO_COMMAND, UNKNOWN)
    if (!(await commands.mayRun(login))) return this.#refuse(NO_ACCESS, FAILED)
    const jail = await this.#options.admitted
    if (!jail) return FAILED
    try {
      if (Buffer.byteLength(line) > MOST_BYTES) throw new LineRefused('The command line is too long.')
      return await this.#runCommand(commands, commandOf(line), jail)
    } catch (error) {
      if (!(error instanceof LineRefused)) throw error
      return this.#refuse(`Error: ${error.message}\n`, FAILED)
    }
  }

  async #runCommand(commands: RemoteCommands, given: GivenCommand, jail: Jail): Promise<number> {
    const { login, columns, changed, log } = this.#options
    const { signal } = this.#stop
    const name = commandName(given.words)
    await commands
      .started(login, name)
      .catch((error) => log.warn({ err: error, siteId: login.siteId }, 'a command could not be recorded'))
    let isInterrupted = false
    const interrupt = () => {
      isInterrupted = true
      this.#stop.abort(new Error('it was interrupted'))
    }
    const seen = columns === undefined ? undefined : terminal(this.#stream, interrupt)
    const input = seen ? this.#stream.pipe(seen.input) : this.#stream
    const io = {
      input,
      output: seen?.output ?? this.#stream,
      errors: seen?.output ?? this.#stream.stderr,
      signal,
      columns,
    }
    let wrote = true
    try {
      const ended = await commands.run(login, given, io, new JailFiles(jail))
      wrote = ended?.wrote ?? false
      return ended?.code ?? FAILED
    } catch (error) {
      if (isInterrupted) return INTERRUPTED
      throw error
    } finally {
      if (wrote || mayChange(name)) changed()
    }
  }

  async #refuse(text: string, code: number): Promise<number> {
    await this.#tell(text)
    return code
  }

  /** A terminal has only one stream, and a newline alone does not return to the first column. */
  #tell(text: string): Promise<void> {
    const { columns } = this.#options
    if (columns === undefined) return write(this.#stream.stderr, text, this.#stop.signal)
    return write(this.#stream, text.replaceAll('\n', '\r\n'), this.#stop.signal)
  }
}
