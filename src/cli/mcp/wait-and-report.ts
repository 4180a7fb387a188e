import { OperationFailed, type Stead } from '../../sdk/index.ts'
import type { Operation } from '../../sdk/wait.ts'
import { refusal, refuses, says, type ToolResult } from './call-tool.ts'
import type { Arguments } from './tools.ts'

const DEFAULT_SECONDS = 120
const MOST_SECONDS = 600

/** Waits for background work, and reports its progress. */
export async function waitForOperation(
  stead: Stead,
  { operation_id: id, timeout_seconds: seconds = DEFAULT_SECONDS }: Arguments,
  signal: AbortSignal,
  tell: (operation: Operation) => void,
): Promise<ToolResult> {
  if (!Number.isSafeInteger(id)) return refuses('operation_id: must be a number')
  if (!(Number.isSafeInteger(seconds) && Number(seconds) >= 1 && Number(seconds) <= MOST_SECONDS))
    return refuses(`timeout_seconds: must be 1 to ${MOST_SECONDS}`)
  const timeout = AbortSignal.timeout(Number(seconds) * 1000)
  let last: Operation | undefined
  const onProgress = (operation: Operation) => {
    last = operation
    tell(operation)
  }
  try {
    const operation = await stead.waitForOperation(Number(id), {
      onProgress,
      signal: AbortSignal.any([signal, timeout]),
    })
    return says(JSON.stringify(operation))
  } catch (error) {
    if (error instanceof OperationFailed || !timeout.aborted) return refusal(error)
    return says(
      JSON.stringify({
        ...last,
        note: `The operation is still running after ${seconds} s. Wait again, or check later.`,
      }),
    )
  }
}
