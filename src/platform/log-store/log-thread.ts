/** The thread of `threaded-logs.ts`, which does SQLite's work away from the event loop that serves requests. */
import { parentPort, workerData } from 'node:worker_threads'
import type { LogLimits } from './shares.ts'
import { SqliteLogs } from './sqlite-logs.ts'
import type { ThreadAnswer, ThreadCall } from './threaded-logs.ts'

const { folder, limits } = workerData as { folder: string; limits: LogLimits }
const logs = new SqliteLogs(folder, limits)

function run({ call, values }: ThreadCall): unknown {
  switch (call) {
    case 'append':
      return logs.append(values[0], values[1])
    case 'page':
      return logs.page(values[0])
    case 'count':
      return logs.count(values[0])
    case 'maintain':
      return logs.maintain(values[0])
    default:
      return logs.close()
  }
}

parentPort?.on('message', (message: ThreadCall) => {
  let answer: ThreadAnswer
  try {
    answer = { number: message.number, result: run(message) }
  } catch (error) {
    answer = { number: message.number, error: error as Error }
  }
  parentPort?.postMessage(answer)
})
