/**
 * The program of the threads in `bzip2-threads.ts`. A block takes half a second of computation, away from the event
 * loop that serves requests.
 */
import { parentPort } from 'node:worker_threads'
import { bzip2Block } from './bzip2-block.ts'

parentPort?.on('message', (content: Uint8Array) => {
  const block = bzip2Block(content)
  parentPort?.postMessage(block, [block.bytes.buffer])
})
