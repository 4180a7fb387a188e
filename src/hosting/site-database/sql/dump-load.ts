import type { ForeignDump, Loaded } from '../database-content.ts'
import { LookIntoDump } from './dump-facts.ts'
import { DumpTables, type DumpTarget } from './dump-tables.ts'
import { type DumpEvent, DumpReader } from './read-dump.ts'
import { UnreadableSql } from './sql-tokens.ts'

/** Loads a dump into a database. Its errors include the place in the dump. */
export class DumpLoad<Insert> {
  readonly #reader: DumpReader
  readonly #tables: DumpTables<Insert>
  readonly #look: LookIntoDump | undefined

  /** @param options.wanted the tables to load; default: all */
  constructor(
    target: DumpTarget<Insert>,
    { wanted, foreign }: { readonly wanted?: readonly string[]; readonly foreign?: ForeignDump } = {},
  ) {
    this.#reader = new DumpReader({ isForeign: foreign !== undefined })
    this.#tables = new DumpTables(target, {
      ...(wanted && { wanted }),
      ...(foreign?.prefixes && { prefixes: foreign.prefixes }),
      ...(foreign?.withoutHttps && { withoutHttps: foreign.withoutHttps }),
    })
    this.#look = foreign && new LookIntoDump()
  }

  /** @throws UnreadableSql */
  write(piece: Uint8Array): void {
    this.#take(this.#reader.write(piece))
  }

  /** Ends the dump. @throws UnreadableSql */
  finish(): void {
    this.#take(this.#reader.finish())
    this.#tables.end()
  }

  /** Adds the current place to an error. */
  placed(error: unknown): unknown {
    return this.#reader.placed(error)
  }

  /** Returns the error for a server's message about statements that were generated from the dump. */
  refused(message: string): UnreadableSql {
    return new UnreadableSql(
      `${message} at or before ${this.#reader.place}`,
      'Correct the dump there, or export it again.',
    )
  }

  get result(): Loaded {
    const { tables, rows } = this.#tables
    const unsure = this.#look && !this.#reader.saysItsEnd && UNSURE
    const warning = [this.#tables.warning, unsure].filter(Boolean).join('. ')
    return { tables, rows, ...(warning && { warning }), ...(this.#look && { found: this.#look.found }) }
  }

  #take(events: Iterable<DumpEvent>): void {
    for (const event of events)
      try {
        this.#look?.take(event)
        this.#tables.take(event)
      } catch (error) {
        throw this.placed(error)
      }
  }
}

const UNSURE = 'The dump has no last line that says that it is complete: compare the site with the original'
