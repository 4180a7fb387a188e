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
/** Of a command line. */
const MOST_BYTES = 1 << 17

export const ONLY_SFTP =
  'This service is for files only: use SFTP (sftp, scp of OpenSSH 9 or newer, FileZilla, WinSCP, rclone, sshfs). There is no shell.\n'
const NO_SHELL =
  'There is no shell: use SFTP for files, and give a command of WP-CLI to ssh for everything else, such as: ssh … wp plugin list\n'
const NO_COMMAND = 'There is no shell, and the only command is wp (WP-CLI), such as: ssh … wp plugin list\n'
const NO_ACCESS =
  'Error: wp needs the role wp_access on this site besides sftp_access; the owner of the site can give it.\n'

export interface ExecOptions {
  readonly login: SftpLogin
  /** Undefined: a shell was asked for. */
  readonly line: string | undefined
  /** Of the terminal that the client has; undefined: it has none. */
  readonly columns: number | undefined
  readonly commands: RemoteCommands | undefined
  /** Resolves when it is certain that the user may be here. */
  readonly admitted: Promise<Jail | undefined>
  /** Something of the site was changed. */
  readonly changed: () => void
  readonly log: { error(facts: object, message: string): void; warn(facts: object, message: string): void }
}

/** A channel on which one command runs. */
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

  /** Resolves when the command has ended by itself. */
  get ended(): Promise<void> {
    return this.#ended
  }

  /** @returns when nothing of it touches the site any more */
  end(): Promise<void> {
    this.#stop.abort(new Error('the connection ends'))
    return this.#ended
  }

  /** Whether its user may still run commands. */
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
    // the old way of scp, and who starts the server himself
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

  /** With a terminal there is one stream only, on which a line begins where the last one ended. */
  #tell(text: string): Promise<void> {
    const { columns } = this.#options
    if (columns === undefined) return write(this.#stream.stderr, text, this.#stop.signal)
    return write(this.#stream, text.replaceAll('\n', '\r\n'), this.#stop.signal)
  }
}
