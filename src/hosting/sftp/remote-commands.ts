import type { CommandIo, Ended } from '../wp-cli/command-io.ts'
import type { GivenCommand } from '../wp-cli/command-line.ts'
import type { CommandFiles } from '../wp-cli/database-commands.ts'
import type { SftpLogin } from './sftp-access.ts'

/** Which commands an `exec` request may run, and for which users. */
export interface RemoteCommands {
  mayRun(login: SftpLogin): Promise<boolean>
  /** Records that a user runs a command. @param name of the command, without its values */
  started(login: SftpLogin, name: string): Promise<void>
  /** @returns undefined when the site no longer exists @throws the signal's reason, or an unexpected error */
  run(login: SftpLogin, given: GivenCommand, io: CommandIo, files: CommandFiles): Promise<Ended | undefined>
}
