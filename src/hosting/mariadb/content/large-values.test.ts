/**
 * Checks that the host's main thread stays responsive while the largest allowed values are loaded, dumped, and
 * compared.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { longestTurn } from '../../../../test/support/longest-turn.ts'
import { hasMariaDb } from '../../../../test/support/mariadb.ts'
import { type OwnMariaDb, startOwnMariaDb } from '../../../../test/support/own-mariadb.ts'
import type { DatabaseContent, SitePlace } from '../../site-database/database-content.ts'
import { createMariaDbContent } from './mariadb-content.ts'

const pool = { between: async <Result>(_siteId: number, work: () => Promise<Result>) => work() }
const MOST_MS = 200
const PIECE = 1 << 16
/** 63 MB, because a statement may have 64. */
const PIECES = 63 << 4

/** A value with addresses in it and nothing else to escape. */
async function* dumpOfLarge(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("CREATE TABLE large (id int PRIMARY KEY, v longtext);\nINSERT INTO large VALUES (1, '")
  const piece = Buffer.alloc(PIECE, 'words https://old.test/ ')
  for (let n = 0; n < PIECES; n++) yield piece
  yield Buffer.from("');\n-- Dump completed\n")
}

describe.skipIf(!hasMariaDb)('a value of 63 MB', () => {
  let maria: OwnMariaDb
  let content: DatabaseContent
  let directory: SitePlace
  beforeAll(async () => {
    maria = await startOwnMariaDb()
    content = createMariaDbContent({ databases: maria.databases, pool })
    directory = await maria.home(1)
    await maria.databases.create(directory)
  })
  afterAll(() => maria?.stop())

  test('does not block the host', async () => {
    const changes = [{ from: 'old.test', to: 'new.test' }]
    expect(await longestTurn(() => content.load(directory, dumpOfLarge(), { changes }))).toBeLessThan(MOST_MS)
    await content.switch(directory)
    const snapshot = await content.snapshot(directory)
    try {
      let bytes = 0
      const dumping = async () => {
        for await (const piece of snapshot.dump()) bytes += piece.length
      }
      expect(await longestTurn(dumping)).toBeLessThan(MOST_MS)
      expect(bytes).toBeGreaterThan(PIECES * PIECE)
      const trying = async () => expect(await content.tryOut(directory, snapshot.dump())).toBeUndefined()
      expect(await longestTurn(trying)).toBeLessThan(MOST_MS)
    } finally {
      await snapshot.close()
    }
  })
})
