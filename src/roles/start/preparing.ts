import { once } from 'node:events'
import { OperatorError } from '../../platform/operator-error.ts'
import { openProcessContext } from '../process-context.ts'
import type { PrepareOrder, UnusableDatabase } from './prepare-control-database.ts'

// A separate process, started by `prepare-control-database.ts`. It ends with its parent.
process.once('disconnect', () => process.exit(1))
// The parent handles Ctrl-C, which a terminal sends to both.
process.on('SIGINT', () => {})
const [{ config, command }] = (await once(process, 'message')) as [PrepareOrder]
try {
  const { database, logs } = await openProcessContext(config, command)
  await logs.close()
  await database.close()
  process.exit(0)
} catch (error) {
  if (!(error instanceof OperatorError)) throw error
  const refused: UnusableDatabase = { message: error.message, exitCode: error.exitCode }
  process.send?.(refused, undefined, undefined, () => process.exit(error.exitCode))
}
