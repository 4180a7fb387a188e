import type { CommandIo, Ended } from '../wp-cli/command-io.ts'
import type { GivenCommand } from '../wp-cli/command-line.ts'
import type { CommandFiles } from '../wp-cli/database-commands.ts'
import type { SftpLogin } from './sftp-access.ts'

/** What may be run by an `exec` request, and by whom. */
export interface RemoteCommands {
  mayRun(login: SftpLogin): Promise<boolean>
  /** Somebody runs it. @param name of the command, without its values */
  started(login: SftpLogin, name: string): Promise<void>
  /** @returns undefined when the site is not there any more @throws the signal's reason; what nobody expects */
  run(login: SftpLogin, given: GivenCommand, io: CommandIo, files: CommandFiles): Promise<Ended | undefined>
}
