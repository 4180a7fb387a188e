import { readFileSync } from 'node:fs'

/** A program with its arguments. */
export interface CommandLine {
  readonly command: string
  readonly args: readonly string[]
}

/**
 * Returns the command line that starts bubblewrap. bubblewrap refuses to run with capabilities, and children inherit
 * those that systemd's `AmbientCapabilities=` gives to Stead for ports below 1024. `setpriv` drops them first.
 */
export function bubblewrap(args: readonly string[], program = 'bwrap'): CommandLine {
  hasCapabilities ??= hasAmbientCapabilities()
  if (!hasCapabilities) return { command: program, args }
  return { command: 'setpriv', args: ['--ambient-caps=-all', '--inh-caps=-all', program, ...args] }
}

/** Read once, because nothing gives a running process ambient capabilities. */
let hasCapabilities: boolean | undefined

/** Reads the set of this process (capabilities(7)). Other systems than Linux have none. */
function hasAmbientCapabilities(): boolean {
  try {
    return !/^CapAmb:\s*0+$/m.test(readFileSync('/proc/self/status', 'utf8'))
  } catch {
    return false
  }
}
