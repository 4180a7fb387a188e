import { Socket } from 'node:net'
import { parseArguments } from './cli/arguments.ts'
import { commandUsages } from './cli/commands.ts'
import { ConfigError, readConfig } from './config.ts'
import { OperatorError } from './platform/operator-error.ts'

/** What Node calls experimental and Stead relies on, tested with the pinned version. */
const expected = /SQLite|[Tt]ype [Ss]tripping|stripTypeScriptTypes/
process.removeAllListeners('warning')
process.on('warning', (warning) => {
  if (!expected.test(warning.message)) console.error(`${warning.name}: ${warning.message}`)
})

/** The roles and commands, each loaded only when it is asked for. */
const commands: Record<string, () => Promise<{ run: Command }>> = {
  serve: () => import('./roles/supervisor.ts'),
  control: () => import('./roles/process.ts'),
  edge: () => import('./roles/process.ts'),
  host: () => import('./cli/host.ts'),
  key: () => import('./cli/key.ts'),
  account: () => import('./cli/account.ts'),
  application: () => import('./cli/application.ts'),
  site: () => import('./cli/site.ts'),
  config: () => import('./cli/config.ts'),
  openapi: () => import('./cli/openapi.ts'),
  version: () => import('./cli/version.ts'),
  help: () => import('./cli/help.ts'),
}

/** A command: returns the exit code, or nothing when it goes on running. */
export type Command = (call: import('./cli/arguments.ts').CommandCall) => Promise<number | undefined>

endWithLauncher()

try {
  const { command, words, flags, settings } = parseArguments(process.argv.slice(2))
  const load = commands[command] as () => Promise<{ run: Command }>
  const config = commandUsages[command]?.needsNoSettings ? readConfig({}) : readConfig(process.env, settings)
  const { run } = await load()
  const code = await run({ command, words, flags, config })
  if (code !== undefined) process.exitCode = code
} catch (error) {
  if (error instanceof ConfigError) {
    console.error(error.message)
    process.exit(2)
  }
  // faults that a person can act on say so in one line; anything else shows where it came from
  if (error instanceof OperatorError) {
    console.error(error.message)
    process.exit(error.exitCode)
  }
  console.error(error)
  process.exit(1)
}

/** A launcher that is killed cannot pass on any signal: the end of its pipe says that it is gone. */
function endWithLauncher(): void {
  const descriptor = Number(process.env.STEAD_LAUNCHER_PIPE)
  delete process.env.STEAD_LAUNCHER_PIPE
  if (!descriptor) return
  const end = () => {
    console.error('The process that started Stead is gone: stopping')
    process.kill(process.pid, 'SIGTERM')
  }
  new Socket({ fd: descriptor, readable: true, writable: false })
    .once('close', end)
    .on('error', () => {})
    .resume()
    .unref()
}
