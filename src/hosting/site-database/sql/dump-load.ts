import type { ForeignDump, Loaded } from '../database-content.ts'
import { DumpTables, type DumpTarget } from './dump-tables.ts'
import { LookIntoDump } from './look-into-dump.ts'
import { type DumpEvent, DumpReader } from './read-dump.ts'
import { UnreadableSql } from './tokens.ts'

/** Reads a dump into a database: what is wrong with it is said with its place. */
export class DumpLoad<Insert> {
  readonly #reader: DumpReader
  readonly #tables: DumpTables<Insert>
  readonly #look: LookIntoDump | undefined

  /** @param options.wanted tables; default: all */
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

  /** Nothing more comes. @throws UnreadableSql */
  finish(): void {
    this.#take(this.#reader.finish())
    this.#tables.end()
  }

  /** Adds its place to what is wrong. */
  placed(error: unknown): unknown {
    return this.#reader.placed(error)
  }

  /** What a server says about statements that were made of what has been read. */
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
