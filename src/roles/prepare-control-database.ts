import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import type { Call } from '../cli/command.ts'
import type { Config, SettingKey } from '../config.ts'
import { OperatorError } from '../platform/operator-error.ts'

/** What the process that settles them is told. */
export interface PrepareOrder {
  readonly config: Config
  readonly command: string
}

/** And what it says where they cannot be used. */
export interface Refused {
  readonly message: string
  readonly exitCode: OperatorError['exitCode']
}

// `.ts` where Stead runs from its sources, `.js` where it was built
const program = join(import.meta.dirname, `preparing${extname(import.meta.filename)}`)

/**
 * After it the database is there and up to date, and is the data folder's own. A process of its own sees to it: what it loads, mostly for
 * databases, would stay in the supervisor for good.
 * @throws OperatorError
 */
export async function prepareControlDatabase({
  command,
  config,
  environment,
}: Call<unknown, SettingKey>): Promise<void> {
  const child = fork(program, [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // settings hold keys as buffers
    serialization: 'advanced',
    env: environment,
  })
  let refused: Refused | undefined
  child.on('message', (message: Refused) => {
    refused = message
  })
  const prepareOrder: PrepareOrder = { config, command }
  // one that has died meanwhile says so by its end
  child.send(prepareOrder, () => {})
  // not `exit`: what it said last may still be on its way
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
