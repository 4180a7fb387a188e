/**
 * A thread of `database-thread.ts`. Has a connection to a site's database and does everything that handles its values.
 */
import type { Connection } from 'mysql2/promise'
import { type OrderStreams, serveOrders } from '../../../platform/threads/serve-orders.ts'
import { differenceOfLoaded } from '../../site-database/dumps/compare-dumps.ts'
import { SiteUnavailable } from '../../site-database/site-database.ts'
import { describeBeyond } from '../../site-database/sql/beyond.ts'
import { connect, errorOf } from '../server/connect.ts'
import { checkServerRoom } from '../server/server-room.ts'
import type { Begun, DatabaseOrder, OrderOf } from './database-thread.ts'
import { beginMoment, type DumpTransaction, dumpMoment } from './dump.ts'
import { levelTables } from './level-tables.ts'
import { copyTables, loadDump } from './load.ts'
import { NotSummable, sumTables, sumUpTables } from './table-sums.ts'

let connection: Connection | undefined
let moment: DumpTransaction | undefined

serveOrders((order: DatabaseOrder, exchange) => perform[order.do](order as never, exchange))

const perform: { [Kind in DatabaseOrder['do']]: (order: OrderOf<Kind>, exchange: OrderStreams) => Promise<unknown> } = {
  async open({ address, login }) {
    connection = await connect(address, login)
  },
  async close() {
    connection?.destroy()
    connection = undefined
    moment = undefined
  },
  begin: ({ database }) => readable(() => begin(database)),
  dump: ({ tables, parts }, { give }) =>
    readable(async () => {
      if (!moment) throw new Error('No consistent read has begun')
      for await (const piece of dumpMoment(moment, tables, parts)) await give(piece)
    }),
  sums: ({ like }) =>
    readable(async () => {
      if (!moment) throw new Error('No consistent read has begun')
      return summable(sumTables(moment.connection, moment.database, moment.tables, like))
    }),
  totals: ({ database }) => readable(() => summable(sumUpTables(opened(), database))),
  level({ database, room, change }, { input }) {
    return levelTables({ connection: opened(), database, checkRoom: () => checkServerRoom(room) }, change, input)
  },
  copyTables: ({ from, to }) => copyTables(opened(), from, to),
  load({ database, room, tables, changes, foreign }, { input }) {
    const place = { connection: opened(), database, checkRoom: () => checkServerRoom(room) }
    return loadDump(place, input, {
      ...(tables && { tables }),
      ...(changes && { changes }),
      ...(foreign && { foreign }),
    })
  },
  tryOut({ database, room }, { input }) {
    const place = { connection: opened(), database, checkRoom: () => checkServerRoom(room) }
    return differenceOfLoaded(
      input,
      (sql) => loadDump(place, sql),
      async function* () {
        const loaded = await readable(() => beginMoment(opened(), database))
        const pieces = dumpMoment(loaded)
        for (;;) {
          const next = await readable(() => pieces.next())
          if (next.done) return
          yield next.value
        }
      },
    )
  },
}

function opened(): Connection {
  if (!connection) throw new Error('No connection is open')
  return connection
}

async function begin(database: string): Promise<Begun> {
  moment = await beginMoment(opened(), database)
  const warning = describeBeyond(moment.tables.map(({ definition }) => definition))
  return { tables: moment.tables.length, ...(warning && { warning }) }
}

/** Waits for sums. @returns null when the server cannot sum up the tables */
async function summable<Sums>(sums: Promise<Sums>): Promise<Sums | null> {
  try {
    return await sums
  } catch (error) {
    if (error instanceof NotSummable) return null
    throw error
  }
}

/** Turns the server's errors about a site's tables into errors for the site's owner. */
async function readable<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw new SiteUnavailable(`The site's database cannot be read: ${errorOf(error).message}`, { cause: error })
  }
}
