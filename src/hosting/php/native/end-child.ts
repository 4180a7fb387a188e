import { execFile } from 'node:child_process'
import { readdir, readlink } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { programFolders } from '../../../platform/files/find-program.ts'
import { processTree } from '../wasm/process-tree.ts'

const run = promisify(execFile)
const mostBytes = 1 << 24

/**
 * Ends the child of a php-fpm that works on one request: the one that has the other end of its connection, by the machine's own word. What PHP
 * says of itself may be the site's.
 * @param master process id of php-fpm, or one above it
 * @returns false when no child has taken the connection, or this machine does not tell
 */
export async function endChildAt(socket: Socket, master: number): Promise<boolean> {
  const descriptor = descriptorOf(socket)
  if (descriptor === undefined) return false
  const own = /^socket:\[(\d+)\]$/.exec(await readlink(`/proc/self/fd/${descriptor}`).catch(() => ''))?.[1]
  const env = { PATH: programFolders.join(':') }
  const { stdout } = await run('ss', ['-xnH'], { env, maxBuffer: mostBytes })
  const peer = own && new RegExp(`\\s${own}\\s+\\*\\s+(\\d+)\\s*$`, 'm').exec(stdout)?.[1]
  if (!peer || peer === '0') return false
  for (const pid of processTree(master)) {
    if (pid === master || !(await hasOpen(pid, `socket:[${peer}]`))) continue
    process.kill(pid, 'SIGKILL')
    return true
  }
  return false
}

async function hasOpen(pid: number, what: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const numbers = await readdir(folder).catch(() => [])
  const open = await Promise.all(numbers.map((number) => readlink(`${folder}/${number}`).catch(() => '')))
  return open.includes(what)
}

/** Node tells it by no other way. */
function descriptorOf(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null || !('fd' in handle)) return undefined
  return typeof handle.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined
}
