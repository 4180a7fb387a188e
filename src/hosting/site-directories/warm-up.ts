import type { PhpProcess } from '../php/runtime.ts'
import { templateMarks } from './template.ts'

/** Rounds of what every first visitor and every first login need. After ten, V8 has compiled the rest. */
const ROUNDS = 10
/** With machine code from another process, only WordPress must warm up. */
const ROUNDS_WITH_CODE = 3

/**
 * Runs the first requests of a future site in a spare process until it answers quickly.
 * @param goesOn called before each step; returns false to stop
 * @returns whether it completed
 */
export async function warmUp(process: PhpProcess, goesOn: () => boolean): Promise<boolean> {
  for (let round = 0; round < (process.hasMachineCode ? ROUNDS_WITH_CODE : ROUNDS); round++)
    for (const step of steps) {
      if (!goesOn()) return false
      await step(process)
    }
  return goesOn()
}

const steps: readonly ((process: PhpProcess) => Promise<unknown>)[] = [
  (process) => visit(process, '/', '/wordpress/index.php'),
  (process) => visit(process, '/wp-login.php', '/wordpress/wp-login.php'),
  // The first task of its future site.
  (process) => process.runTask('check-site', {}),
]

async function visit(process: PhpProcess, path: string, script: string): Promise<void> {
  const { body, finished } = await process.request({
    method: 'GET',
    path,
    script,
    headers: [],
    body: null,
    bodyBytes: 0,
    remoteAddress: '127.0.0.1',
    https: false,
    host: templateMarks.address,
  })
  body.resume()
  await finished
}
