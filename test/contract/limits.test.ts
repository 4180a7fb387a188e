/** The table of budgets in the documentation is current, and its limits fit into the processes. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { controlBudgets, dnsBudgets, edgeBudgets, hostBudgets, mariaDbLimits, memoryOfPart } from '../../src/budgets.ts'
import { readConfig } from '../../src/config.ts'
import type { BudgetTerms } from '../../src/platform/budgets/budget.ts'

const config = readConfig({})
const parts: Record<string, Readonly<Record<string, BudgetTerms>>> = {
  control: controlBudgets(config),
  host: hostBudgets(config),
  edge: edgeBudgets(config),
  dns: dnsBudgets(config),
}
const page = readFileSync('docs/design/limits.md', 'utf8')

const amount = (terms: BudgetTerms, value: number): string => {
  if (value === Number.MAX_SAFE_INTEGER) return 'what the disk has'
  return terms.of === 'count' ? value.toLocaleString('en') : `${Math.round((value / (1 << 20)) * 100) / 100} MB`
}
const rowOf = (terms: BudgetTerms): string =>
  `| \`${terms.name}\` | ${terms.what} | ${terms.of === 'count' ? 'number' : terms.of} | ${amount(terms, terms.each)} per ${terms.whose} | ${amount(terms, terms.all)} | ${terms.over} |`

describe.each(Object.entries(parts))('the budgets of the %s', (part, table) => {
  it('are in docs/design/limits.md as they are', () => {
    const missing = Object.values(table)
      .map(rowOf)
      .filter((row) => !page.includes(row))
    expect(missing.join('\n')).toBe('')
  })

  it('have unique names, and give no one more than everything', () => {
    const rows = Object.values(table)
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
    expect(rows.filter(({ each, all }) => each > all)).toEqual([])
  })

  it('of memory add up to less than the process may have', () => {
    const sum = Object.values(table).reduce((total, { of, all }) => total + (of === 'memory' ? all : 0), 0)
    expect(sum).toBeLessThanOrEqual(memoryOfPart(config)[part as keyof ReturnType<typeof memoryOfPart>])
  })
})

it('the limits of MariaDB are there as well', () => {
  const rows = Object.entries({
    'memory of all sessions of a site': mariaDbLimits.siteMemoryBytes,
    'memory of the server': mariaDbLimits.memoryBytes,
    'temporary files of a session': mariaDbLimits.temporaryBytes,
    'temporary files of all': mariaDbLimits.allTemporaryBytes,
    'temporary tables of all': mariaDbLimits.temporaryTablesBytes,
  }).map(([what, bytes]) => `| ${what} | ${(bytes / (1 << 20)).toLocaleString('en')} MB |`)
  expect(rows.filter((row) => !page.includes(row))).toEqual([])
})
