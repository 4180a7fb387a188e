import { Socket } from 'node:net'
import { inspect } from 'node:util'
import { isCommand, isLocalWord, localWords, parseArguments } from './cli/parse-arguments.ts'
import { readConfig } from './config.ts'
import { MAY_PASS, OperatorError } from './platform/operator-error.ts'
import { complain } from './platform/terminal/complain.ts'

/** Features that Node calls experimental and Stead uses, tested with the pinned version. */
const expected = /SQLite|[Tt]ype [Ss]tripping|stripTypeScriptTypes/
process.removeAllListeners('warning')
process.on('warning', (warning) => {
  if (!expected.test(warning.message)) complain(`${warning.name}: ${warning.message}`)
})

endWithLauncher()

try {
  if (await isForApi()) await runForApi()
  else await runCommand()
} catch (error) {
  // An error that a person can fix prints one line. Any other error prints its stack.
  if (error instanceof OperatorError) {
    complain(error.message)
    process.exit(process.send && error.exitCode === 1 ? MAY_PASS : error.exitCode)
  }
  complain(inspect(error))
  process.exit(1)
}

/**
 * Loads the code of commands for the API only if the list has the first word.
 * @throws UsageError for a word that begins no command
 */
async function isForApi(): Promise<boolean> {
  const [word, verb] = process.argv.slice(2).filter((each) => !each.startsWith('-'))
  if (word === undefined || isCommand(word, verb)) return false
  const { inPlural, isApiNoun, noSuchWord } = await import('./cli/api/main.ts')
  if (isApiNoun(word)) return true
  if (!isLocalWord(word)) throw noSuchWord(word, localWords)
  const plural = verb === undefined ? undefined : inPlural(word, verb)
  if (plural) throw plural
  return false
}

async function runForApi(): Promise<void> {
  const { stdin, stdout, stderr, env } = process
  // `| head` has closed its end.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  const { runForApi: run } = await import('./cli/api/main.ts')
  const isInteractive = stdin.isTTY === true && stderr.isTTY === true
  process.exitCode = await run(process.argv.slice(2), { environment: env, out: stdout, err: stderr, isInteractive })
}

async function runCommand(): Promise<void> {
  // Makes files for other users, such as those of MariaDB and of sites, readable whatever the operator's umask is.
  // Secrets set their own mode.
  process.umask(0o022)
  const { command, words, flags, settings } = parseArguments(process.argv.slice(2))
  // Commands without settings work even if the settings are invalid.
  const config = command.settings.length === 0 ? readConfig({}) : readConfig(process.env, settings)
  const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const run = await command.load()
  // The list ensures that a command's code accepts what its entry declares.
  const code = await run({ command: command.name, words, flags, config, given, environment: process.env } as never)
  if (typeof code === 'number') process.exitCode = code
}

/** A killed launcher cannot pass on a signal. The end of its pipe shows that it is gone. */
function endWithLauncher(): void {
  const descriptor = Number(process.env.STEAD_LAUNCHER_PIPE)
  delete process.env.STEAD_LAUNCHER_PIPE
  if (!descriptor) return
  const end = () => {
    complain('The process that started Stead has ended, stopping')
    process.kill(process.pid, 'SIGTERM')
  }
  new Socket({ fd: descriptor, readable: true, writable: false })
    .once('close', end)
    .on('error', () => {})
    .resume()
    .unref()
}
