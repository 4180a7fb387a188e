import { type ChildProcess, type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from 'node:child_process'

/** None of Stead's settings, which include passwords. */
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' }

/**
 * Starts a program in its own process group. Ctrl-C in a terminal, which goes to the whole group of Stead, does not
 * reach it. When the program has ended, the rest of its group is ended, too.
 *
 * A sandbox must be started this way: while bubblewrap is being set up, its inner process outlives the outer one, and
 * waits forever.
 */
export function startGroup(command: string, args: readonly string[]): ChildProcessWithoutNullStreams
export function startGroup(command: string, args: readonly string[], stdio: StdioOptions): ChildProcess
export function startGroup(command: string, args: readonly string[], stdio: StdioOptions = 'pipe'): ChildProcess {
  const child = spawn(command, args, { stdio, env, cwd: '/', detached: true })
  // At this moment, no other process can have its ID yet.
  child.once('exit', () => killAll(child.pid))
  return child
}

/** Ends a program that {@link startGroup} has started, with its whole group, unless it has ended already. */
export function killGroup(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) killAll(child.pid)
}

function killAll(leader: number | undefined): void {
  if (leader === undefined) return // it could not be started
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // None of its processes is left.
  }
}
