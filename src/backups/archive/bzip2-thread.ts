/** A thread of `bzip2-threads.ts`: half a second of arithmetic a block, apart from the event loop that serves requests. */
import { parentPort } from 'node:worker_threads'
import { bzip2Block } from './bzip2-block.ts'

parentPort?.on('message', (content: Uint8Array) => {
  const block = bzip2Block(content)
  parentPort?.postMessage(block, [block.bytes.buffer])
})
