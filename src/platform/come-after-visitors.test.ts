import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { comeAfterVisitors } from './come-after-visitors.ts'

test.skipIf(process.platform !== 'linux' || getPriority() > 4)('lowers the priority of a thread only', async () => {
  const module = new URL('come-after-visitors.ts', import.meta.url).href
  const before = getPriority()
  const thread = new Worker(
    `import(${JSON.stringify(module)}).then(({ comeAfterVisitors }) => {
      comeAfterVisitors()
      require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority())
    })`,
    { eval: true },
  )
  expect(await once(thread, 'message')).toEqual([5])
  expect(getPriority()).toBe(before)
  const program = spawn('sh', ['-c', 'read line; nice'], { stdio: ['pipe', 'pipe', 'ignore'] })
  comeAfterVisitors(program.pid)
  program.stdin.end('\n')
  expect(await text(program.stdout)).toBe('5\n')
})
