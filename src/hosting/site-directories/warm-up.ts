import type { PhpProcess } from '../php/runtime.ts'
import { templateMarks } from './template.ts'

/** Rounds of what every first visitor and every first login needs. After ten, V8 has compiled the rest. */
const ROUNDS = 10
/** Where it has that from another process, it is about WordPress alone. */
const ROUNDS_WITH_CODE = 3

/**
 * Has a process in a site directory that is no site's do what a site is asked first, until it is quick at it.
 * @param goesOn asked before each step; it ends when that says no
 * @returns whether it did all
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
  // what its site will be asked first
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
