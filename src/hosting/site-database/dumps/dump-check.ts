import { setImmediate as breathe } from 'node:timers/promises'
import { DumpUnreadable } from '../database-content.ts'
import { DumpReader } from '../sql/read-dump.ts'
import { UnreadableSql } from '../sql/sql-tokens.ts'

/** The bytes that are read between two turns of the event loop, in some milliseconds. */
const SLICE_BYTES = 64 << 10

/** Checks a dump that arrives in pieces, without keeping any of it. */
export interface DumpCheck {
  /** @throws DumpUnreadable, with the place */
  write(piece: Uint8Array): Promise<void>
  /** @throws DumpUnreadable when the last line does not say that the dump is complete */
  finish(): void
}

export function checkDump(): DumpCheck {
  const reader = new DumpReader({ keepsValues: false })
  const read = (events: Iterable<unknown>) => {
    try {
      for (const _event of events);
    } catch (error) {
      if (!(error instanceof UnreadableSql)) throw error
      throw new DumpUnreadable(`The dump cannot be read: ${error.message}`, { cause: error })
    }
  }
  return {
    async write(piece) {
      for (let at = 0; at < piece.length; at += SLICE_BYTES) {
        if (at > 0) await breathe()
        read(reader.write(piece.subarray(at, at + SLICE_BYTES)))
      }
    },
    finish: () => read(reader.finish()),
  }
}
