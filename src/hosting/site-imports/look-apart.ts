import { createReadStream } from 'node:fs'
import { extname, join } from 'node:path'
import { type LookOptions, lookInThread } from '../site-database/dumps/look-in-thread.ts'
import type { DumpFacts } from './dump-facts.ts'

/** `.ts` where Stead runs from its sources, `.js` where it was built. */
const program = join(import.meta.dirname, `dump-facts-thread${extname(import.meta.filename)}`)

/** Looks through a dump for what an import has to know. @throws DumpUnreadable */
export async function lookAtDumpApart(path: string, options: LookOptions): Promise<DumpFacts> {
  const input = createReadStream(path, { highWaterMark: 1 << 18, signal: options.signal })
  return lookInThread<DumpFacts>(program, input, options).finally(() => input.destroy())
}
