import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import type { Call } from '../../cli/command.ts'
import type { Config, SettingKey } from '../../config.ts'
import { OperatorError } from '../../platform/operator-error.ts'

/** The message to the process that prepares the control database. */
export interface PrepareOrder {
  readonly config: Config
  readonly command: string
}

/** Its message when the database is unusable. */
export interface UnusableDatabase {
  readonly message: string
  readonly exitCode: OperatorError['exitCode']
}

// `.ts` when Stead runs from its sources, `.js` when it was built.
const program = join(import.meta.dirname, `preparing${extname(import.meta.filename)}`)

/**
 * Makes sure that the database exists, is up to date, and belongs to the data folder. Uses a separate process, because
 * the modules that it loads, mostly for databases, would stay in the supervisor's memory.
 * @throws OperatorError
 */
export async function prepareControlDatabase({
  command,
  config,
  environment,
}: Call<unknown, SettingKey>): Promise<void> {
  const child = fork(program, [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // Settings contain keys as buffers.
    serialization: 'advanced',
    env: environment,
  })
  let refused: UnusableDatabase | undefined
  child.on('message', (message: UnusableDatabase) => {
    refused = message
  })
  const prepareOrder: PrepareOrder = { config, command }
  // A process that died in the meantime reports it by its exit.
  child.send(prepareOrder, () => {})
  // Not `exit`, because its last message may still be in transit.
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (refused) throw new OperatorError(refused.message, { exitCode: refused.exitCode })
  if (code !== 0)
    throw new OperatorError(
      `The database could not be prepared (${signal ?? `exit code ${code}`}). See the reason above.`,
      {
        exitCode: 1,
      },
    )
}
