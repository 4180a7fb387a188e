import type { Check } from './check.ts'

/** Faults of the program itself. Broken connections, a locked database, and a missing process are not among them. */
const faultTypes = /^(TypeError|ReferenceError|RangeError|SyntaxError|AssertionError.*)$/
const ownWords = /^unexpected error$|heap out of memory|FATAL ERROR|UnhandledPromiseRejection/

/** The log contains nothing that only a fault of the program explains. */
export const log: Check = {
  name: 'log',
  async run({ lines }) {
    const found = new Map<string, number>()
    for (const line of lines) {
      const fault = faultIn(line)
      if (fault) found.set(fault, (found.get(fault) ?? 0) + 1)
    }
    return [...found].map(([fault, times]) => `${fault}${times > 1 ? ` (${times} times)` : ''}`)
  },
}

function faultIn(line: string): string | undefined {
  if (!line.startsWith('{')) return ownWords.test(line) || /^\s+at .*\.(ts|js):\d+/.test(line) ? line.trim() : undefined
  try {
    const { msg, part, err } = JSON.parse(line) as {
      msg?: string
      part?: string
      err?: { type?: string; stack?: string }
    }
    if (!faultTypes.test(err?.type ?? '') && !ownWords.test(msg ?? '')) return undefined
    return `${part}: ${msg}: ${err?.stack?.split('\n').slice(0, 3).join(' ')}`
  } catch {
    return undefined // two processes wrote at once
  }
}
