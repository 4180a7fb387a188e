import { execFile } from 'node:child_process'
import { readdir, readlink } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { programFolders } from '../../../platform/files/find-program.ts'
import { processTree } from '../wasm/process-tree.ts'

const run = promisify(execFile)
const mostBytes = 1 << 24

/**
 * Ends the php-fpm child that handles one request. It is the process with the other end of the connection, according to
 * the kernel, because PHP's own statements may come from the site.
 * @param master process ID of php-fpm, or of a process above it
 * @returns false when no child has accepted the connection, or the kernel does not reveal it
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

/** Node does not expose it in any other way. */
function descriptorOf(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, '_handle')
  if (typeof handle !== 'object' || handle === null || !('fd' in handle)) return undefined
  return typeof handle.fd === 'number' && handle.fd >= 0 ? handle.fd : undefined
}
