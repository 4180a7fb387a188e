import { expect, test } from 'vitest'
import { addressRewriter } from '../../site-database/rewrite-addresses.ts'
import { DumpTables } from '../../site-database/sql/dump-tables.ts'
import { DumpReader } from '../../site-database/sql/read-dump.ts'
import { LoadStatements } from './load-statements.ts'

/** Returns the statements of a dump with one row. */
function statementsOf(value: string): string[] {
  const statements = new LoadStatements(addressRewriter([]))
  const tables = new DumpTables(statements, undefined)
  const reader = new DumpReader()
  const text = `CREATE TABLE t (v longtext);\nINSERT INTO t VALUES ('${value}');\n-- Dump completed`
  for (const event of reader.write(Buffer.from(text))) tables.take(event)
  for (const event of reader.finish()) tables.take(event)
  statements.end()
  return statements.ready().map(({ sql }) => sql)
}

test('escapes special characters and leaves everything else unchanged', () => {
  const insert = statementsOf("a\\0b\\nc\\rd\\Ze\\\"f''g\\\\h %\\_ü😀").at(-1)
  const written = String.raw`'a\0b\nc\rd\Ze\"f\'g\\h %\\_ü😀'`
  expect(insert).toBe(`INSERT INTO \`t\` (\`v\`) VALUES (${Buffer.from(written).toString('latin1')})`)
})

test('reads and escapes a large value with little CPU time', () => {
  const value = "some text with an \\'escape\\' ".repeat(1 << 20)
  const processorMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  const before = processorMs()
  expect(statementsOf(value).at(-1)?.length).toBeGreaterThan(value.length)
  // About 300 ms. A `replace` over the whole value took more than 5 s.
  expect(processorMs() - before).toBeLessThan(2500)
})
